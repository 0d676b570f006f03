/**
 * The cluster at the control address: as the node that is asked sees it, and the operator's statement that a lost node is
 * dead. The statement frees the node's slots at once; if the node is only cut off, too many visitors may be admitted.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { addressOf, type OfficeEnv } from "./caller.ts";
import { clusterShape } from "./cluster-shape.ts";
import type { Handed } from "./desk.ts";
import { answered, COMMON_REFUSALS, jsonContent, refusals, refuseCall } from "./refusal.ts";

const NODES_NAMED_MAX = 20;

const showRoute = createRoute({
  method: "get",
  path: "/cluster",
  summary: "The cluster, as this node sees it",
  responses: {
    200: answered("The cluster.", clusterShape),
    ...COMMON_REFUSALS,
    ...refusals("no_cluster"),
  },
});
const forgetRoute = createRoute({
  method: "post",
  path: "/cluster/forget",
  summary: "Declare a lost node dead: the others get its slots back",
  description:
    "Only if it is certainly dead. A node that was merely cut off goes on admitting visitors, in addition to those the others then admit.",
  request: {
    body: {
      required: true,
      content: jsonContent(z.strictObject({ name: z.string().min(1).max(200) }).openapi("LostNode")),
    },
  },
  responses: {
    200: answered("The node is forgotten.", z.object({ name: z.string() })),
    ...COMMON_REFUSALS,
    ...refusals("bad_request", "no_cluster", "not_lost", "too_large", "not_json", "bad_change"),
  },
});

/** Adds the cluster's routes. */
export function addCluster(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(showRoute, (c) => {
    if (!desk.cluster) return refuseCall(c, "no_cluster", NO_CLUSTER);
    return c.json(desk.cluster.report(), 200);
  });
  app.openapi(forgetRoute, (c) => {
    const { name } = c.req.valid("json");
    if (!desk.cluster) return refuseCall(c, "no_cluster", NO_CLUSTER);
    if (!desk.cluster.forget(name)) return refuseCall(c, "not_lost", notLost(desk.cluster.report().lost));
    world.log.warn(
      { node: name, by: addressOf(c) },
      "a lost node was declared dead from the control address",
    );
    return c.json({ name }, 200);
  });
}

const NO_CLUSTER =
  "This Fairgate is not a node of a cluster. Start it with --cluster, or with cluster in its settings.";

/** Lists the lost nodes; the name that was sent is not repeated. */
function notLost(lost: readonly { readonly name: string }[]): string {
  const names = lost.slice(0, NODES_NAMED_MAX).map(({ name }) => name);
  const which = names.length === 0 ? "No node is lost." : `Lost nodes: ${names.join(", ")}.`;
  return `No node by that name is lost. ${which}`;
}
