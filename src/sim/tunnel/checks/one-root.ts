/**
 * At most one root in a view, at every instant anyone looks, whatever goes wrong: the root gives turns, and two of them would
 * give the same ones. A view is identified by its version and its members; two parts of a split cluster have different ones.
 */
import type { Check, Notice } from "../notice.ts";
import type { SimNodeStatus, SimViewStatus } from "../sim-node.ts";

export class OneRoot implements Check {
  readonly name = "one root";

  see(notice: Notice): string | null {
    if (notice.kind !== "look") return null;
    const roots = new Map<string, string>();
    for (const { name, view } of notice.nodes.filter(isRootOfView)) {
      const key = keyOf(view);
      const other = roots.get(key);
      if (other !== undefined) return `${other} and ${name} are both root of view ${view.version}`;
      roots.set(key, name);
    }
    return null;
  }
}

function isRootOfView(node: SimNodeStatus): node is SimNodeStatus & { view: SimViewStatus } {
  return node.isRoot && node.view !== null;
}

function keyOf({ version, members }: SimViewStatus): string {
  const who = members.map(({ number, name, life }) => `${number}:${name}#${life}`).sort();
  return `${version} ${who.join(" ")}`;
}
