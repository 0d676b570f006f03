/**
 * The cluster at the control address: as the node that is asked sees it, and an operator's word that a lost node is dead.
 * That word frees the node's slots at once; were it wrong, and the node only cut off, too many could be let in.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { addressOf, type OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { COMMON_REFUSALS, refusals, refuseCall } from "./refusal.ts";

const NODES_NAMED_MAX = 20;

const count = (description: string) => z.int().openapi({ description });
const ownSchema = z
  .object({
    waiting: z.int(),
    turns: count("Visitors admitted and not yet entered."),
    onSite: z.int(),
  })
  .openapi("OwnCounts");
const nodeSchema = z
  .object({
    name: z.string(),
    address: z.string(),
    state: z.enum(["alive", "suspect", "dead"]),
    parent: z.string().nullable().openapi({ description: "The node above it in the tree." }),
    isHere: z.boolean().openapi({ description: "True for the node that was asked." }),
    own: ownSchema.openapi({ description: "What is its own, in all rooms, as known here." }),
  })
  .openapi("ClusterNode");
const roomSchema = z
  .object({
    waiting: count("At all nodes, as known here."),
    ownWaiting: count("Of the node that was asked, as all that follows."),
    turns: z.int(),
    onSite: z.int(),
    spare: z
      .number()
      .nullable()
      .openapi({ description: "Slots that it may give out by itself. null: no limit." }),
  })
  .openapi("ClusterRoom");
const clusterSchema = z
  .object({
    name: z.string().openapi({ description: "The node that was asked." }),
    address: z.string(),
    view: z
      .object({
        version: z.int(),
        isMajority: z.boolean().openapi({ description: "False in a part cut off from most of the others." }),
        isSettled: z.boolean().openapi({ description: "True when it knows all that the others know." }),
      })
      .nullable()
      .openapi({ description: "Who belongs to it, as all agree. null: this node was not taken in yet." }),
    root: z
      .string()
      .nullable()
      .openapi({ description: "The node that turns the doors. null: not known here." }),
    towardsRoot: z.string().nullable().openapi({ description: "The neighbour on the way to the root." }),
    rounds: count("Counting rounds that this node has led."),
    nodes: z.array(nodeSchema).openapi({ description: "From the top of the tree down." }),
    lost: z
      .array(z.object({ name: z.string(), address: z.string() }))
      .openapi({ description: "Nodes that cannot be reached." }),
    rooms: z.record(z.string(), roomSchema),
    problems: z
      .array(z.string())
      .openapi({ description: "What an operator should know. Empty: all is well." }),
  })
  .openapi("Cluster");

const showRoute = createRoute({
  method: "get",
  path: "/cluster",
  summary: "The cluster, as this node sees it",
  responses: {
    200: { description: "The cluster.", content: { "application/json": { schema: clusterSchema } } },
    ...COMMON_REFUSALS,
    ...refusals("no_cluster"),
  },
});
const forgetRoute = createRoute({
  method: "post",
  path: "/cluster/forget",
  summary: "A lost node is dead: its slots are the others' again",
  description:
    "Only if it is dead for sure. One that was merely cut off goes on letting people in, on top of those that the others then let in.",
  request: {
    body: {
      required: true,
      content: {
        "application/json": {
          schema: z.strictObject({ name: z.string().min(1).max(200) }).openapi("LostNode"),
        },
      },
    },
  },
  responses: {
    200: {
      description: "It is forgotten.",
      content: { "application/json": { schema: z.object({ name: z.string() }) } },
    },
    ...COMMON_REFUSALS,
    ...refusals("bad_request", "no_cluster", "not_lost", "too_large", "not_json", "bad_change"),
  },
});

/** Adds the cluster's routes. */
export function addCluster(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(showRoute, (c) => {
    if (!desk.cluster) return refuseCall(c, "no_cluster", NO_CLUSTER);
    const { nodes, lost, problems, rooms, ...report } = desk.cluster.report();
    const finite = Object.entries(rooms).map(([name, room]) => [
      name,
      { ...room, spare: Number.isFinite(room.spare) ? room.spare : null },
    ]);
    const lists = { nodes: [...nodes], lost: [...lost], problems: [...problems] };
    return c.json({ ...report, ...lists, rooms: Object.fromEntries(finite) }, 200);
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
  "This Fairgate is no node of a cluster. Start it with --cluster, or with cluster in its settings.";

/** What was sent is not repeated; names of nodes are plain. */
function notLost(lost: readonly { readonly name: string }[]): string {
  const names = lost.slice(0, NODES_NAMED_MAX).map(({ name }) => name);
  const which = names.length === 0 ? "No node is lost." : `Lost are: ${names.join(", ")}.`;
  return `No node by that name is lost. ${which}`;
}
