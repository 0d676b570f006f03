/** A cluster as one node sees it: the shape at the control address, from which the document and the types are made. */
import { z } from "@hono/zod-openapi";

const said = <T extends z.ZodType>(schema: T, description: string) => schema.openapi({ description });
const count = (description: string) => said(z.int(), description);

const nodeSchema = z
  .object({
    name: z.string(),
    address: z.string(),
    state: z.enum(["alive", "suspect", "dead"]),
    parent: said(z.string().nullable(), "Its parent in the tree. null: it is the top."),
    isHere: said(z.boolean(), "True for the node that was asked."),
    own: z
      .object({ waiting: z.int(), turns: count("Visitors admitted and not yet entered."), onSite: z.int() })
      .openapi("OwnCounts")
      .openapi({ description: "The places and visits the node owns, in all rooms, as known here." }),
  })
  .openapi("ClusterNode");
const roomSchema = z
  .object({
    waiting: count("At all nodes, as known here."),
    ownWaiting: count("At the node that was asked, like all fields below."),
    turns: z.int(),
    onSite: z.int(),
    spare: said(z.number().nullable(), "Slots that it may give out without asking. null: no limit."),
  })
  .openapi("ClusterRoom");

export const clusterShape = z
  .object({
    name: said(z.string(), "The node that was asked."),
    address: z.string(),
    view: z
      .object({
        version: z.int(),
        isMajority: said(z.boolean(), "False in a part that is cut off from the majority."),
        isSettled: said(z.boolean(), "True when the node knows everything the others know."),
      })
      .nullable()
      .openapi({ description: "The members, as all nodes agree. null: this node has not joined yet." }),
    root: said(z.string().nullable(), "The root, which admits visitors. null: not known here."),
    towardsRoot: said(z.string().nullable(), "The neighbour on the way to the root. null: it is this node."),
    rounds: count("Counting rounds that this node has led."),
    nodes: said(z.array(nodeSchema), "From the top of the tree down, each node's children after it."),
    lost: said(
      z.array(z.object({ name: z.string(), address: z.string() })),
      "Nodes that cannot be reached, and may have visitors of their own.",
    ),
    rooms: z.record(z.string(), roomSchema),
    problems: said(z.array(z.string()), "What an operator should know, in sentences. Empty: all is well."),
  })
  .openapi("Cluster");

export type ClusterReport = z.infer<typeof clusterShape>;
export type ClusterNodeReport = z.infer<typeof nodeSchema>;
export type ClusterRoomReport = z.infer<typeof roomSchema>;
