/**
 * What to do when file handles run out. A part that could not get one, such as a connection to an origin, calls this. Which part
 * can free handles (the visitors' listener, with its idle connections) is set later.
 */
export class Relief {
  #ask: (error: Error) => boolean = () => false;

  /** Sets the function that frees handles; it returns whether it could. */
  comesFrom(ask: (error: Error) => boolean): void {
    this.#ask = ask;
  }

  /** Handles ran out, with this error. True when some were freed, so that a retry is worthwhile. */
  ask(error: Error): boolean {
    return this.#ask(error);
  }
}

/** No more file handles, for this process or for the whole machine. */
export function isOutOfHandles(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE";
}
