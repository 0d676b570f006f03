/** Cancelling and refunding what was sold: its stock comes back, once for each ticket. */
import type { OrderAnswer, SoldTicket } from "../commands.ts";
import { forgetIdleCustomer } from "./life.ts";
import { soldUnits, takenOfTickets } from "./orders.ts";
import type { ShopState } from "./shop-state.ts";

export interface TicketChange {
  /** Null: all of them. */
  readonly tickets: readonly string[] | null;
  readonly kind: "cancelled" | "refunded";
}

export function cancelTickets(
  shop: ShopState,
  id: string,
  { tickets, kind }: TicketChange,
  now: number,
): OrderAnswer {
  const order = shop.orders.get(id);
  if (!order) return { kind: "refused", code: "unknownOrder" };
  if (tickets?.some((ticket) => !order.tickets.some((one) => one.id === ticket)))
    return { kind: "refused", code: "unknownTicket" };
  const isMeant = (ticket: SoldTicket) =>
    ticket.state === "sold" && (tickets === null || tickets.includes(ticket.id));
  const returned = order.tickets.filter(isMeant);
  if (returned.length === 0) return { kind: "order", order, changed: [] };
  const { lane, customer, room } = order;
  shop.stock.move(soldUnits(returned), { from: "sold", to: null }, { at: now, cause: kind, about: id, lane });
  shop.customers.remove(customer, takenOfTickets(returned), shop.limits);
  forgetIdleCustomer(shop, customer, now);
  shop.figures.moveTickets(room, returned.length, "sold", null);
  const after = {
    ...order,
    tickets: order.tickets.map((ticket) => (isMeant(ticket) ? { ...ticket, state: kind } : ticket)),
  };
  shop.orders.put(after);
  const changed = returned.map((ticket) => ticket.id);
  shop.facts.push({ type: `order.${kind}`, at: now, order: after, tickets: changed });
  return { kind: "order", order: after, changed };
}
