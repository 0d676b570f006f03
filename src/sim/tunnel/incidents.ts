/**
 * The incidents of a plan as plain data: what happens when, so that they can be listed, and single ones left out, before a run.
 * Each kind and each incident has its own dice. What an incident hits is drawn when it happens, since that depends on who is up.
 */
import { between, diceOf } from "./dice.ts";
import { INCIDENT_KINDS, type IncidentKind } from "./fault-kinds.ts";
import type { Plan } from "./plan.ts";

export interface Incident {
  readonly name: string;
  readonly kind: IncidentKind;
  readonly number: number;
  /** Milliseconds from the start of the time with faults. */
  readonly at: number;
  readonly forMs: number;
  readonly sizeMs: number;
}

export function incidentsOf(plan: Plan): Incident[] {
  return INCIDENT_KINDS.flatMap((kind) => incidentsOfKind(plan, kind))
    .filter(({ name }) => !plan.without.includes(name))
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1));
}

function incidentsOfKind(plan: Plan, kind: IncidentKind): Incident[] {
  const fault = plan.faults[kind];
  if (fault === null) return [];
  return Array.from({ length: fault.times }, (_, i) => {
    const number = i + 1;
    const dice = diceOf(plan.seed, "incident", kind, number);
    const at = dice() * plan.spanMs;
    const forMs = Math.min(between(dice, fault.forMs), plan.spanMs - at);
    const sizeMs = fault.sizeMs * between(dice, { from: 0.2, to: 1 });
    return { name: `${kind}.${number}`, kind, number, at, forMs, sizeMs };
  });
}
