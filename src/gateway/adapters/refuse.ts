/** Refuses a request that is not acted on: one line of plain text, and a line in the log at debug. */
import type { Duplex } from "node:stream";
import type { World } from "../../core/world.ts";
import { entryOf } from "../access-log/entry.ts";
import { PLAIN } from "../answer-headers.ts";
import { answerWhole } from "../proxy/answer.ts";
import type { AnyRequest, AnyResponse } from "../proxy/any-http.ts";
import type { Refusal } from "../proxy/framing.ts";
import { answerRaw } from "../proxy/raw-answer.ts";

/** Answers a request with the reason. `isLast`: nothing more is read from its connection. */
export function refuse(
  request: AnyRequest,
  response: AnyResponse,
  refusal: Refusal,
  { world, isLast }: { world: World; isLast: boolean },
): void {
  entryOf(response)?.decide("refused");
  const { status, body } = told(refusal, world);
  answerWhole(request, response, { status, headers: [...PLAIN], body, isLast, timers: world.timers });
}

/** The same for an upgrade. */
export function refuseUpgrade(socket: Duplex, refusal: Refusal, world: World): void {
  entryOf(socket)?.decide("refused");
  const { status, body } = told(refusal, world);
  answerRaw(socket, { status, headers: PLAIN, body });
}

function told({ status, reason }: Refusal, { log }: World): { status: number; body: Buffer } {
  log.debug({ code: "REQUEST_REFUSED", status, reason }, "request refused");
  return { status, body: Buffer.from(`${reason}\n`) };
}
