/** The reasons why a run of `npm test` failed, read from its output. */

/** As the test runner lists them at the end of a group: where the test is, and its name. */
const FAILED = /^test at (\S+?):\d+:\d+\n✖ (.*) \([\d.]+ms\)$/gm;
/** What else makes a run fail: types, a build, things left in the temporary folder, programs that are missing. */
const OTHER = /^(?:Tests left .*|Nothing was started\..*|\S+\(\d+,\d+\): error .*)$/gm;
const LAST_WORDS_MAX = 200;

/** Each failed test and each other reason, once; at least one, if only the last lines of the output. */
export function failuresIn(printed: string): string[] {
  const tests = [...printed.matchAll(FAILED)].map(([, file, name]) => `${file}: ${name}`);
  const others = printed.match(OTHER) ?? [];
  const found = [...new Set([...tests, ...others])];
  if (found.length > 0) return found;
  const last = printed.trimEnd().split("\n").at(-1) ?? "";
  return [`no reason found; it ended with "${last.slice(-LAST_WORDS_MAX)}"`];
}
