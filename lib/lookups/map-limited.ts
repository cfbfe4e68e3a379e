/** `Promise.all` over tasks, of which only `concurrency` run at a time. */
export async function mapLimited<T, R>(
  all: readonly T[],
  concurrency: number,
  run: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < all.length) {
      const index = next++;
      results[index] = await run(all[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, all.length) }, worker));
  return results;
}
