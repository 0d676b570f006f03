/**
 * Proxies that no package here provides, imitated by what their documentation and source say about their requests and what they
 * do with the answers: Traefik's ForwardAuth middleware, and Envoy's ext_authz filter with an HTTP service. Everything that their
 * files in `deploy/` set is read from there. An imitation shows that Fairgate fits these rules, not that the programs accept the
 * files.
 */
import http, { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { parse } from "yaml";
import { deployed, type Host, type StartHost } from "./hosts.ts";

/** Statuses by Envoy's names. */
const STATUS = { Forbidden: 403, ServiceUnavailable: 503 };

type Headers = Record<string, string | string[]>;

interface Ask {
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

const HOP_BY_HOP = new Set([
  ...["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
  ...["content-length", "expect"],
]);

/** The middleware sends GET without a body. Any 2xx passes; every other answer goes to the visitor. */
export const startTraefik: StartHost = ({ fairgate, site, rooms }) => {
  const { routers, middlewares } = parse(deployed("traefik/fairgate.yml")).http;
  const [asking, cleaning] = routers.site.middlewares;
  const { forwardAuth } = middlewares[asking];
  // An empty value removes a header.
  const { headers: headersMiddleware } = middlewares[cleaning];
  const own = /PathPrefix\(`([^`]+)`\) && !PathPrefix\(`([^`]+)`\)/.exec(routers["waiting-room"].rule)!;
  const address = new URL(forwardAuth.address);
  return serve(async (request, response) => {
    const { method = "GET", url = "/", headers } = request;
    const theirs = endToEnd(headers as Headers);
    if (url.startsWith(own[1]!) && !url.startsWith(own[2]!))
      return relay(request, response, { at: fairgate, headers: { ...theirs, ...cameFrom(request) } });
    const question = {
      ...theirs,
      ...cameFrom(request),
      ...{ "x-forwarded-method": method, "x-forwarded-uri": url, "x-forwarded-host": headers.host! },
      host: fairgate,
    };
    const told = await ask({ at: fairgate, method: "GET", path: address.pathname, headers: question }).catch(
      () => null,
    );
    if (told === null || told.body.length > forwardAuth.maxResponseBodySize) return send(response, 500, {});
    if (told.status < 200 || told.status >= 300) {
      const given = endToEnd(told.headers);
      if (given.location) given.location = new URL(String(given.location), address).href;
      return send(response, told.status, given, told.body);
    }
    const isOurs = new RegExp(forwardAuth.authResponseHeadersRegex);
    for (const name of Object.keys(theirs)) if (isOurs.test(canonical(name))) delete theirs[name];
    for (const [name, value] of Object.entries(told.headers))
      if (isOurs.test(canonical(name))) theirs[name] = value;
    for (const name of Object.keys(headersMiddleware.customRequestHeaders)) delete theirs[name.toLowerCase()];
    // The file names those of a room `main`; operators with more rooms add theirs.
    const names = (forwardAuth.addAuthCookiesToResponse as string[]).flatMap((main) =>
      rooms.map((room) => main.replace("main", room)),
    );
    const cookies = listed(told.headers["set-cookie"]).filter((text) =>
      names.includes(text.split("=", 1)[0]!),
    );
    return relay(request, response, { at: site, headers: theirs, added: { "set-cookie": cookies } });
  });
};

/** The filter sends the request's method and path, and a few of its headers. Only 200 passes, and 5xx is a failure. */
export const startEnvoy: StartHost = ({ fairgate, site, away }) => {
  const [{ filter_chains: chains }] = parse(deployed("envoy/envoy.yaml"), { merge: true }).static_resources
    .listeners;
  const manager = chains[0].filters[0].typed_config;
  const filter = manager.http_filters[0].typed_config;
  const service = filter.http_service;
  const removed = manager.early_header_mutation_extensions[0].typed_config.mutations as { remove: string }[];
  const mayFail = filter.failure_mode_allow || away === "open";
  return serve(async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const theirs = { ...endToEnd(request.headers as Headers), ...cameFrom(request) };
    for (const name of Object.keys(theirs)) if (name.includes("_")) delete theirs[name];
    for (const { remove } of removed) delete theirs[remove];
    const route = manager.route_config.virtual_hosts[0].routes.find((route: { match: { prefix: string } }) =>
      url.startsWith(route.match.prefix),
    );
    if (route.direct_response) return send(response, route.direct_response.status, {});
    const at = route.route.cluster === "site" ? site : fairgate;
    if (route.typed_per_filter_config) return relay(request, response, { at, headers: theirs });
    const question = {
      ...matching(filter.allowed_headers, theirs),
      host: theirs.host!,
      "content-length": "0",
    };
    const path = service.path_prefix + url;
    const told = await ask({ at: fairgate, method, path, headers: question }).catch(() => null);
    if (told === null || told.status >= 500) {
      if (mayFail) return relay(request, response, { at, headers: theirs });
      return send(response, STATUS[filter.status_on_error.code as keyof typeof STATUS], {});
    }
    if (told.status !== 200) return send(response, told.status, endToEnd(told.headers), told.body);
    const { allowed_upstream_headers, allowed_client_headers_on_success } = service.authorization_response;
    const upstream: Headers = { ...theirs, ...matching(allowed_upstream_headers, told.headers) };
    for (const name of route.request_headers_to_remove as string[]) delete upstream[name];
    const added = matching(allowed_client_headers_on_success, told.headers);
    return relay(request, response, { at, headers: upstream, added });
  });
};

/** A header's name as Go writes it. */
const canonical = (name: string) => name.replaceAll(/(^|-)([a-z])/g, (part) => part.toUpperCase());

function matching(
  list: { patterns: readonly { exact?: string; prefix?: string }[] },
  headers: Headers,
): Headers {
  const isListed = (name: string) =>
    list.patterns.some(({ exact, prefix }) => name === exact || (prefix && name.startsWith(prefix)));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isListed(name)));
}

/** Headers that both set about the origin of a request, whatever the request itself says. */
const cameFrom = (request: IncomingMessage): Headers => ({
  "x-forwarded-for": request.socket.remoteAddress!,
  "x-forwarded-proto": "http",
});

const endToEnd = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));

const listed = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : [value].flat();

/** Forwards a request, and its answer as it arrives. */
function relay(
  request: IncomingMessage,
  response: ServerResponse,
  { at, headers, added = {} }: { at: string; headers: Headers; added?: Headers },
): Promise<void> {
  const [hostname, port] = at.split(":");
  return new Promise((resolve) => {
    const { method, url: path } = request;
    const onward = http.request({ hostname, port, method, path, headers, agent: false });
    onward.on("error", () => {
      send(response, 502, {});
      resolve();
    });
    onward.on("response", (answer) => {
      const both: OutgoingHttpHeaders = { ...endToEnd(answer.headers as Headers) };
      for (const [name, value] of Object.entries(added))
        both[name] = [...listed(both[name] as Headers[string] | undefined), ...listed(value)];
      response.writeHead(answer.statusCode!, both);
      response.flushHeaders();
      answer.pipe(response);
      answer.on("close", resolve);
      response.on("close", () => onward.destroy());
    });
    request.pipe(onward);
  });
}

function ask({ at, method, path, headers }: Ask): Promise<Answer> {
  const [hostname, port] = at.split(":");
  return new Promise((resolve, reject) => {
    const asked = http.request({ hostname, port, method, path, headers, agent: false });
    asked.on("error", reject).on("response", (answer) => {
      const { statusCode: status = 0, headers } = answer;
      buffer(answer).then((body) => resolve({ status, headers: headers as Headers, body }), reject);
    });
    asked.end();
  });
}

function send(
  response: ServerResponse,
  status: number,
  headers: Headers,
  body: Buffer = Buffer.alloc(0),
): void {
  response.writeHead(status, { ...headers, "content-length": body.length });
  response.end(body);
}

async function serve(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
): Promise<Host> {
  const server = http.createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
