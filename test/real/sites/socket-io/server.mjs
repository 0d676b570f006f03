/**
 * A chat in socket.io, as its guide has it: long polling first, then a WebSocket (`node server.mjs NAME`). Two of them know
 * nothing of each other, so a client whose requests go now to one and now to the other gets no connection.
 *
 * `/state` tells, to those who ask here and not through a gateway, whose WebSockets are open and how many there were at once.
 */
import { createServer } from "node:http";
import { Server } from "socket.io";

const [name = "chat"] = process.argv.slice(2);

/** Visitors with open WebSockets, by what they call themselves: how many, and what the gateway calls them. */
const open = new Map();
/** Everybody who ever had one. */
const seen = new Set();
let mostAtOnce = 0;

const PAGE = `<!doctype html><html lang=en><title>The chat</title><link rel=icon href="data:,">
<h1>The chat</h1><p id=state>not connected</p><p id=origin></p><ol id=heard></ol>
<script src="/socket.io/socket.io.js"></script>
<script>
  const asked = new URLSearchParams(location.search);
  const show = (id, text) => { document.getElementById(id).textContent = text; };
  window.failures = [];
  window.chat = io({ query: { who: asked.get("who") ?? "somebody" }, reconnection: asked.get("again") !== "no" });
  chat.on("connect", () => {
    const { engine } = chat.io;
    engine.on("upgrade", ({ name }) => show("state", "connected by " + name));
    show("state", "connected by " + engine.transport.name);
  });
  chat.on("disconnect", () => show("state", "not connected"));
  chat.on("connect_error", ({ message }) => failures.push(message));
  chat.io.on("close", (reason) => failures.push(reason));
  chat.io.engine.on("upgradeError", ({ message }) => failures.push(message));
  chat.on("here", (name) => show("origin", name));
  chat.on("said", (text) => {
    heard.append(Object.assign(document.createElement("li"), { textContent: text }));
  });
</script></html>`;

const server = createServer((request, response) => {
  if (request.url === "/state") {
    const visitors = Object.fromEntries(open);
    response.setHeader("content-type", "application/json");
    return response.end(JSON.stringify({ name, visitors, seen: [...seen], mostAtOnce }));
  }
  // The site may end a visit itself, where the room lets it.
  if (request.url === "/goodbye") response.setHeader("Fairgate-Command", "revoke");
  response.setHeader("content-type", "text/html; charset=utf-8");
  response.setHeader("cache-control", "no-store");
  response.end(PAGE);
});

server.on("upgrade", (request, socket) => {
  const who = new URL(request.url, "http://chat").searchParams.get("who");
  const visitor = open.get(who) ?? { sockets: 0, id: request.headers["fairgate-visitor"] ?? null };
  visitor.sockets++;
  open.set(who, visitor);
  seen.add(who);
  mostAtOnce = Math.max(mostAtOnce, open.size);
  socket.on("close", () => {
    visitor.sockets--;
    if (visitor.sockets === 0) open.delete(who);
  });
});

// Nothing is sent that the test does not send: a heartbeat would keep every visit alive.
const io = new Server(server, { pingInterval: 600_000 });
io.on("connection", (socket) => {
  socket.emit("here", name);
  socket.on("say", (text) => socket.emit("said", text));
});

server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ port: server.address().port })));
