/** An answer, or an upgraded connection, that is under way to its visitor. Adapters say what it is in their runtime. */
export interface OpenAnswer {
  readonly isUpgraded: boolean;
  /** What has passed so far, either way; null where nobody but who passes it on can tell. */
  bytes(): number | null;
  /** Breaks it off, in a way that the visitor notices. */
  end(): void;
}
