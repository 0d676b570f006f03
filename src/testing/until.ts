/** Waiting for a condition, with a timeout that only a broken program reaches. */
const PATIENCE_MS = 180_000;

export async function until(
  isSo: () => boolean | Promise<boolean>,
  what = "what was waited for",
): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
