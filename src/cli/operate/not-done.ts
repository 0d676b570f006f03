/** Why a command could not be done, in words for people. The words are fit for a terminal. */
export class NotDone extends Error {
  readonly exitCode: 1 | 2;
  /** What the control address calls it; empty where it said nothing. */
  readonly code: string;

  constructor(words: string, exitCode: 1 | 2, code = "") {
    super(words);
    this.exitCode = exitCode;
    this.code = code;
  }
}
