/** Waits for what happens, however long it takes; what never happens ends with the test's own time limit. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 1));
}
