/**
 * What code outside `core` gets in place of globals: time, randomness, timers, log. Only entry points, transports and drivers
 * make one, so a test or the simulator can pass its own and control every instant. `core` itself is passed `now`.
 */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly log: Log;
}

export interface Clock {
  /** Milliseconds since 1970, never going backwards within one process. */
  now(): number;
}

export interface Random {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
  /** A number in [0, 1). Good for jitter, never for secrets. */
  fraction(): number;
}

export interface Timers {
  /** Calls `work` every `periodMs` until the returned function is called. Does not keep the process alive. */
  every(periodMs: number, work: () => void): () => void;
  /** Calls `work` once after `delayMs` unless the returned function is called first. */
  after(delayMs: number, work: () => void): () => void;
}

export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
