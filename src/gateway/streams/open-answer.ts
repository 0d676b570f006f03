/** An answer, or an upgraded connection, that is under way to its visitor. Adapters say what it is in their runtime. */
export interface OpenAnswer {
  readonly isUpgraded: boolean;
  /** Bytes that have passed so far, both ways; null where only the code that passes them on can tell. */
  bytes(): number | null;
  /** Breaks it off, in a way that the visitor notices. */
  end(): void;
}
