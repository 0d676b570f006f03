/** One requirement of Pluijmaekers 2020, and what meets it. */
export interface Requirement {
  /** As chapter 2 has it; what only appendix E has is written `E.ce6`. */
  readonly id: string;
  /** Its id in appendix E where that is another one. */
  readonly inAppendix?: string;
  readonly says: string;
  /** Settings as they are written in a room, in an event of it, or at the top. */
  readonly settings: readonly string[];
  /** Parts of a shop's catalogue, as an organiser writes them. */
  readonly catalogue?: readonly string[];
  /** Files of the repository. */
  readonly files?: readonly string[];
  /** The paper does not want it (WON'T): nothing has to meet it. */
  readonly isUnwanted?: true;
  readonly note: string;
}
