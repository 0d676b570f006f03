/** The proxy code alone, with no waiting room. */
import type { Settings } from "../../src/config/schema.ts";
import type { World } from "../../src/core/world.ts";
import { renderProblem } from "../../src/gateway/page/problem.ts";
import type { AnyRequest } from "../../src/gateway/proxy/any-http.ts";
import { createProxy } from "../../src/gateway/proxy/proxy.ts";
import { SlowVisitors } from "../../src/gateway/proxy/slow-visitors.ts";
import { createTrust } from "../../src/gateway/proxy/trust.ts";
import type { Handlers } from "./listen-and-tell.ts";

const FORWARD = {
  id: "bench",
  requestHeaders: [],
  responseHeaders: [],
  isContinueExpected: false,
  watch: null,
  connection: null,
  isPersonal: false,
  isOnSite: false,
  client: null,
  stickyKey: null,
};

export function bareProxy(settings: Settings, world: World): Handlers {
  const proxy = createProxy({
    settings: settings.origin!,
    slow: new SlowVisitors(() => settings.limits, world),
    world,
    renderProblem: ({ headers }, page) => renderProblem(String(headers.accept), undefined, page),
  });
  const trust = createTrust([]);
  const forward = (request: AnyRequest) => ({ ...FORWARD, sender: trust.client(request) });
  const handle: Handlers["handle"] = (request, response) =>
    proxy.forward(request, response, forward(request));
  return {
    handle,
    handleContinue: handle,
    upgrade: (request, socket, head) => proxy.upgrade(request, socket, head, forward(request)),
  };
}
