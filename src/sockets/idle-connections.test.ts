import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { IdleConnections } from "./idle-connections.ts";

class Connection extends EventEmitter {
  bytesRead = 0;
  bytesWritten = 0;
  _httpMessage: object | null = null;
  isClosed = false;

  destroy(): void {
    this.isClosed = true;
    this.emit("close");
  }

  serve(): void {
    this.bytesRead += 100;
    this.bytesWritten += 100;
  }
}

function openStage(count = 1) {
  const world = handWorld();
  const idle = new IdleConnections(1_000, world);
  const connections = Array.from({ length: count }, () => new Connection());
  for (const connection of connections) idle.watch(connection as unknown as Socket);
  return { world, idle, connections, connection: connections[0]! };
}

test("a connection is closed when it has been idle for its time, or soon after", () => {
  const { world, connection } = openStage();
  connection.serve();
  world.pass(1_000);
  assert.equal(connection.isClosed, false);
  world.pass(300);
  assert.equal(connection.isClosed, true);
});

test("a connection in use is never closed", () => {
  const { world, connection } = openStage();
  for (let i = 0; i < 20; i++) {
    connection.serve();
    world.pass(900);
  }
  assert.equal(connection.isClosed, false);
});

test("an answer that takes long is not idleness", () => {
  const { world, connection } = openStage();
  connection.serve();
  connection._httpMessage = {};
  world.pass(10_000);
  assert.equal(connection.isClosed, false);
  connection._httpMessage = null;
  world.pass(1_300);
  assert.equal(connection.isClosed, true);
});

test("a connection without its first answer is left to the limit on headers", () => {
  const { world, connection } = openStage();
  connection.bytesRead = 10;
  world.pass(10_000);
  assert.equal(connection.isClosed, false);
});

test("an upgraded connection is let alone", () => {
  const { world, idle, connection } = openStage();
  connection.serve();
  idle.release(connection);
  world.pass(10_000);
  assert.equal(connection.isClosed, false);
});

test("of very many every one is looked at in time", () => {
  const { world, connections } = openStage(10_000);
  for (const connection of connections) connection.serve();
  world.pass(2_000);
  assert.equal(connections.filter((connection) => !connection.isClosed).length, 0);
});

test("a shorter time holds from the next look on", () => {
  const { world, idle, connection } = openStage();
  connection.serve();
  idle.maxIdleMs = 100;
  world.pass(300);
  assert.equal(connection.isClosed, true);
});
