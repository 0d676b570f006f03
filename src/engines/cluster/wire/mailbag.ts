/**
 * What a node sends to its peers, gathered into one message for each. A peer that does not answer directly also gets it through
 * another peer that hears it.
 */

import type { Swim } from "../membership/swim.ts";
import { idOf, type Member, type View } from "../membership/view.ts";
import type { Message, MessageBody } from "./message.ts";

/** The writer, with its life, view and time. */
export type MessageSender = Pick<Message, "name" | "life" | "clock" | "view">;

interface Unsent {
  readonly address: string;
  readonly to: string | null;
  readonly bodies: MessageBody[];
}

export interface MailbagParts {
  readonly swim: Pick<Swim, "isDirect" | "wayTo">;
  /** As of now. */
  readonly sender: () => MessageSender;
}

export class Mailbag {
  readonly #parts: MailbagParts;
  /** By id of every node that was ever heard, or is in the view. */
  readonly #addresses = new Map<string, string>();
  #members: readonly Member[] = [];
  #unsent = new Map<string, Unsent>();

  constructor(parts: MailbagParts) {
    this.#parts = parts;
  }

  start({ members }: View): void {
    this.#members = members;
    for (const member of members) this.#addresses.set(idOf(member), member.address);
  }

  /** A message of that node came from that address. */
  heard(id: string, address: string): void {
    this.#addresses.set(id, address);
  }

  addressOf(id: string): string | undefined {
    return this.#addresses.get(id);
  }

  /** To any process at an address, or to one life only. */
  post(address: string, body: MessageBody, to: string | null = null): void {
    const key = to ?? address;
    const message = this.#unsent.get(key);
    if (message) message.bodies.push(body);
    else this.#unsent.set(key, { address, to, bodies: [body] });
  }

  /** To a member by its id; also through another peer while it does not answer directly. */
  postTo(id: string, body: MessageBody): void {
    const address = this.#addresses.get(id);
    if (!address) return;
    this.post(address, body, id);
    const { swim, sender } = this.#parts;
    const way = swim.isDirect(id) ? null : swim.wayTo(id);
    const through = way === null ? undefined : this.#addresses.get(way);
    if (!through || body.kind === "ping" || body.kind === "pingReq" || body.kind === "ack") return;
    const message = { to: id, ...sender(), bodies: [body] };
    this.post(through, { kind: "relay", to: id, letter: message });
  }

  postToNumber(number: number, body: MessageBody): void {
    const member = this.#members.find((one) => one.number === number);
    if (member) this.postTo(idOf(member), body);
  }

  /** Forwards a message to a member that its writer does not reach. */
  passOn(id: string, message: Message): void {
    const member = this.#members.find((one) => idOf(one) === id);
    if (member) this.post(member.address, { kind: "relay", to: id, letter: message });
  }

  /** Takes the messages to send. */
  take(): { to: string; message: Message }[] {
    if (this.#unsent.size === 0) return [];
    const sender = this.#parts.sender();
    const messages = [...this.#unsent.values()].map(({ address, to, bodies }) => ({
      to: address,
      message: { to, ...sender, bodies },
    }));
    this.#unsent = new Map();
    return messages;
  }
}
