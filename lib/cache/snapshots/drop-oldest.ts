/** Bounds a set or a map: what was added first goes first. */
export function dropOldest(from: Set<string> | Map<string, unknown>, max: number): void {
  if (from.size <= max) return;
  for (const oldest of from.keys()) {
    from.delete(oldest);
    if (from.size <= max) return;
  }
}
