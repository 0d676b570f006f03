import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type EntryNode, readEntryNode } from "../config/cluster-schema.ts";
import { findNodes, type Machine, ownAddress } from "./cluster-addresses.ts";

interface Known {
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly services?: Readonly<Record<string, readonly { name: string; port: number }[]>>;
  /** Besides 127.0.0.1. */
  readonly own?: readonly string[];
}

function machine({ names = {}, services = {}, own = ["10.0.0.7"] }: Known = {}): Machine {
  const found = async <T>(value: T | undefined): Promise<T> => {
    if (value === undefined) throw Object.assign(new Error("not found"), { code: "ENOTFOUND" });
    return value;
  };
  return {
    addressesOf: (host) => found(names[host]),
    hostsOf: (service) => found(services[service]),
    own: () => [
      { address: "127.0.0.1", internal: true },
      ...own.map((address) => ({ address, internal: false })),
    ],
    pause: async () => {},
  };
}

function entryNodes(...written: readonly string[]): EntryNode[] {
  return written.map((text) => {
    const read = readEntryNode(text);
    assert.ok("value" in read, text);
    return read.value;
  });
}

describe("where nodes are", () => {
  test("is as it is written, in that order", async () => {
    const join = entryNodes("10.0.0.9", "gate-2:7200", "10.0.0.8");
    const { addresses } = await findNodes(join, machine());
    assert.deepEqual(addresses, ["10.0.0.9:7100", "gate-2:7200", "10.0.0.8:7100"]);
  });

  test("is by name the same list for all, from the lowest address on", async () => {
    const names = { "fairgate.internal": ["10.0.0.10", "2001:db8::1", "10.0.0.9"] };
    const { addresses, problems } = await findNodes(entryNodes("dns:fairgate.internal"), machine({ names }));
    assert.deepEqual([addresses, problems], [["10.0.0.9:7100", "10.0.0.10:7100"], []]);
  });

  test("may be IPv6, where a name has nothing else", async () => {
    const names = { a: ["2001:db8::2", "2001:db8::1"] };
    const { addresses } = await findNodes(entryNodes("dns:a:80"), machine({ names }));
    assert.deepEqual(addresses, ["[2001:db8::1]:80", "[2001:db8::2]:80"]);
  });

  test("is by a service the hosts and ports of its records", async () => {
    const services = {
      "_f._tcp.a": [
        { name: "Gate-2.a.", port: 7_200 },
        { name: "gate-1.a", port: 7_100 },
      ],
    };
    const { addresses } = await findNodes(entryNodes("dns:_f._tcp.a"), machine({ services }));
    assert.deepEqual(addresses, ["gate-1.a:7100", "gate-2.a:7200"]);
  });

  test("is told of in a sentence where a name leads nowhere, and the rest is there", async () => {
    const found = await findNodes(entryNodes("dns:nowhere.internal", "10.0.0.8"), machine());
    assert.deepEqual(found, {
      addresses: ["10.0.0.8:7100"],
      problems: ["dns:nowhere.internal:7100 has no addresses: the name is unknown"],
    });
  });
});

describe("a node's own address", () => {
  const own = (listen: { host: string; port: number }, nodes: readonly string[], known: Known = {}) =>
    ownAddress({ advertise: null, listen }, nodes, machine(known));
  const everywhere = { host: "", port: 7_100 };

  test("is the one that is set", async () => {
    const settings = { advertise: "gate-1:9", listen: everywhere };
    assert.equal(await ownAddress(settings, ["10.0.0.7:7100"], machine()), "gate-1:9");
  });

  test("is the one in the list that is this machine's, as it is written there", async () => {
    const names = { "gate-1": ["10.0.0.8"], "gate-2": ["10.0.0.7"] };
    const nodes = ["gate-1:7100", "gate-2:7200", "gate-2:7100"];
    assert.equal(await own(everywhere, nodes, { names }), "gate-2:7100");
    assert.equal(await own({ host: "10.0.0.7", port: 7_200 }, nodes, { names }), "gate-2:7200");
    assert.equal(await own(everywhere, ["10.0.0.8:7100", "10.0.0.7:7100"]), "10.0.0.7:7100");
    assert.equal(
      await own(everywhere, ["localhost:7100"], { names: { localhost: ["127.0.0.1"] } }),
      "localhost:7100",
    );
  });

  test("is where it listens, if the list has something else", async () => {
    assert.equal(await own({ host: "127.0.0.1", port: 7_101 }, ["127.0.0.1:7100"]), "127.0.0.1:7101");
    assert.equal(await own({ host: "127.0.0.2", port: 7_100 }, ["127.0.0.1:7100"]), "127.0.0.2:7100");
    assert.equal(await own({ host: "::1", port: 0 }, []), "[::1]:0");
  });

  test("is the only address of this machine, if it listens at all of them", async () => {
    assert.equal(await own(everywhere, ["10.0.0.9:7100"]), "10.0.0.7:7100");
    const withLocal = { own: ["fe80::1", "10.0.0.7", "2001:db8::1"] };
    assert.equal(await own(everywhere, ["gate-9:7100"], withLocal), "10.0.0.7:7100");
  });

  test("must be said where there are several, and the refusal names them", async () => {
    const several = { own: ["10.0.0.7", "172.17.0.1"] };
    await assert.rejects(
      own(everywhere, ["10.0.0.9:7100"], several),
      /10\.0\.0\.7, 172\.17\.0\.1.*cluster\.advertise/,
    );
    await assert.rejects(own(everywhere, [], { own: [] }), /has none/);
  });
});
