import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedRecord, type RecordShape, readStored } from "./stored-records.ts";

const SHAPE: RecordShape = {
  fields: {
    name: "text",
    units: { listOf: { orNull: "count" } },
    byLane: { each: "integer" },
    isOpen: "flag",
  },
};
const GOOD = { name: "seat", units: [1, null], byLane: { main: -1 }, isOpen: true };

function problemOf(text: string): string {
  try {
    readStored("count/seat", text, SHAPE);
  } catch (error) {
    assert.ok(error instanceof DamagedRecord && error.key === "count/seat");
    return error.message;
  }
  return "";
}

test("a record of the right shape is read", () => {
  assert.deepEqual(readStored("count/seat", JSON.stringify(GOOD), SHAPE), GOOD);
});

test("damage is named with its key and place", () => {
  const changed = (change: object) => problemOf(JSON.stringify({ ...GOOD, ...change }));
  assert.match(problemOf('{"name":"sea'), /"count\/seat" .*it is not JSON/);
  assert.match(problemOf("[]"), /it should be an object/);
  assert.match(changed({ name: 7 }), /it\.name should be of the kind "text" and is 7/);
  assert.match(changed({ units: [1, -1] }), /it\.units\[1\] should be of the kind "count" and is -1/);
  assert.match(changed({ units: {} }), /it\.units should be a list/);
  assert.match(changed({ byLane: { main: 0.5 } }), /it\.byLane\.main/);
  assert.match(changed({ isOpen: undefined }), /it\.isOpen/);
  assert.match(changed({ units: [2 ** 60] }), /it\.units\[0\]/);
});
