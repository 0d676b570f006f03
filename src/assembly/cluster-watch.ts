/**
 * Logs what happens to a cluster, on each of its nodes: nodes that joined, left or were lost, a majority lost and regained,
 * and settings that stay different. It compares the node's status from time to time.
 *
 * During a rolling change settings differ for a while; only lasting differences are logged.
 */
import type { Log } from "../core/world.ts";
import type { NodeStatus } from "../engines/cluster/node-status.ts";

/** How long a difference must last to be logged: longer than a rolling change. */
export const DIFFERENCE_TOLD_AFTER_MS = 60_000;
/** How often waiting to join is logged. */
export const WAITING_TOLD_EVERY_MS = 10_000;

interface Known {
  readonly members: ReadonlySet<string>;
  readonly lost: ReadonlySet<string>;
  readonly isMajority: boolean;
}

export class ClusterWatch {
  readonly #log: Log;
  #known: Known | null = null;
  #waitingToldAt: number;
  /** When each difference was first seen; Infinity once it was logged. */
  #differentSince = new Map<string, number>();

  constructor(log: Log, now: number) {
    this.#log = log;
    this.#waitingToldAt = now;
  }

  /** Compares the status with the last one. `wire`: problems with connections. */
  look(
    status: NodeStatus,
    now: number,
    { differences, wire }: { differences: readonly string[]; wire: readonly string[] },
  ): void {
    if (!status.view) return this.#tellWaiting(status.problem, wire, now);
    const { members, lost, isMajority } = status.view;
    const known = { members: namesOf(members), lost: namesOf(lost), isMajority };
    if (this.#known) this.#tellChanges(this.#known, known);
    else this.#log.info({ nodes: [...known.members] }, "this node is in the cluster");
    this.#known = known;
    this.#tellDifferences(differences, now);
  }

  #tellWaiting(problem: string | null, wire: readonly string[], now: number): void {
    if (now - this.#waitingToldAt < WAITING_TOLD_EVERY_MS) return;
    this.#waitingToldAt = now;
    const why = problem ?? "nobody has answered it";
    this.#log.warn(
      { why, peers: wire },
      "this node waits to be taken into the cluster, and takes no visitors",
    );
  }

  #tellChanges(before: Known, { members, lost, isMajority }: Known): void {
    for (const node of members)
      if (!before.members.has(node))
        this.#log.info({ node }, before.lost.has(node) ? "a lost node is back" : "a node has joined");
    for (const node of lost)
      if (!before.lost.has(node)) this.#log.warn({ node }, "a node cannot be reached, and counts as lost");
    for (const node of [...before.members, ...before.lost])
      if (!members.has(node) && !lost.has(node))
        this.#log.info({ node }, "a node no longer belongs to the cluster");
    if (before.isMajority && !isMajority)
      this.#log.error({ nodes: [...members], lost: [...lost] }, "most nodes are lost; few are let in here");
    if (!before.isMajority && isMajority)
      this.#log.info({ nodes: [...members] }, "most nodes are here again");
  }

  #tellDifferences(differences: readonly string[], now: number): void {
    const since = new Map(differences.map((text) => [text, this.#differentSince.get(text) ?? now]));
    for (const [text, at] of since) {
      if (now - at < DIFFERENCE_TOLD_AFTER_MS) continue;
      this.#log.warn({}, `${text}: give all nodes the same`);
      since.set(text, Number.POSITIVE_INFINITY);
    }
    this.#differentSince = since;
  }
}

function namesOf(members: readonly { readonly name: string }[]): ReadonlySet<string> {
  return new Set(members.map(({ name }) => name));
}
