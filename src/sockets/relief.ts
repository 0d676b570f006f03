/**
 * What is done when file handles run out. A part that could not get one, such as a connection to an origin, asks here. Which
 * part has handles to spare (the visitors' listener, with its idle connections) is known only later.
 */
export class Relief {
  #ask: (error: Error) => boolean = () => false;

  /** From now on this is asked to free handles. It tells whether it could. */
  comesFrom(ask: (error: Error) => boolean): void {
    this.#ask = ask;
  }

  /** Handles ran out, with this error. True when some were freed, so that it is worth trying again at once. */
  ask(error: Error): boolean {
    return this.#ask(error);
  }
}

/** No more file handles, for this process or for the whole machine. */
export function isOutOfHandles(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE";
}
