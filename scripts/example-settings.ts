/**
 * `fairgate.example.yaml`, made from the schema: every setting with its default, what it should be, and what it means. The
 * file loads as it is, given a secret in the environment. A line that starts with `#` and no space is a setting that is
 * off; removing the `#` turns it on.
 */
import { stringify } from "yaml";
import { isMappingSetting, type Setting } from "../src/config/outline.ts";

/** Values in the example that are not the defaults, so that it shows a working room. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  "origin.addresses": ["http://127.0.0.1:3000"],
  "cluster.join": ["10.0.0.7:7100", "10.0.0.8:7100", "10.0.0.9:7100"],
  "cluster.listen": ":7100",
  // With the default `sessionDuration` of 5m, 500 slots are refilled at 100 a minute.
  "rooms.main.totalActiveUsers": 500,
  "rooms.main.newUsersPerMinute": 100,
};

/** Settings that are off in the example, with the values they would have. */
const OFF: Readonly<Record<string, unknown>> = {
  "tls.certificateFile": "certificate.pem",
  "tls.keyFile": "key.pem",
  secret: "the-output-of-fairgate-keys-new-goes-here",
  secretFile: "secret.txt",
  "redis.url": "redis://127.0.0.1:6379/0",
  "cluster.secret": "yet-another-output-of-fairgate-keys-new-here",
  "cluster.secretFile": "cluster-secret.txt",
  "cluster.tls.certificateFile": "node.pem",
  "cluster.tls.keyFile": "node-key.pem",
  "cluster.tls.caFile": "cluster-ca.pem",
  "control.token": "another-output-of-fairgate-keys-new-here",
  "control.tokenFile": "control-token.txt",
  "accessLog.to": "access.log",
  "budgets.shared.totalActiveUsers": 800,
  "rooms.main.standby.requestsPerSecond": 400,
  "rooms.main.lanes.vip.members.jwt.claim": "tier",
  "rooms.main.lanes.vip.members.jwt.values": ["gold"],
  "rooms.main.lanes.vip.members.jwt.secretVariable": "SHOP_JWT_SECRET",
  "rooms.main.lanes.vip.members.header.name": "X-Tier",
  "rooms.main.lanes.vip.members.header.values": ["gold"],
  "rooms.main.budget": "shared",
  "rooms.main.guaranteed": 50,
  "rooms.main.shop": "tickets",
  "shops.tickets.catalogueFile": "catalogue.yaml",
  "shops.tickets.customer.secretVariable": "SHOP_JWT_SECRET",
  "shops.tickets.payment.secretVariable": "SHOP_PAYMENT_SECRET",
  "shops.tickets.payment.url": "https://pay.example",
  "shops.tickets.orders.webhook": "https://shop.example/orders",
  "shops.tickets.orders.secretVariable": "SHOP_ORDERS_SECRET",
  "rooms.main.page.customPageFile": "waiting.html",
  "rooms.main.events": [
    {
      name: "sale",
      prequeueStartTime: "2026-12-01T09:30:00Z",
      eventStartTime: "2026-12-01T10:00:00Z",
      eventEndTime: "2026-12-01T18:00:00Z",
      shuffleAtEventStart: true,
      totalActiveUsers: 750,
      newUsersPerMinute: 150,
      message: "The sale is on until six.",
    },
  ],
};

/** Optional mappings that are on in the example. */
const ON = new Set(["origin", "rooms", "rooms.main.origin"]);
/** Name of the one entry in a mapping with free names. */
export const EXAMPLE_NAMES: Readonly<Record<string, string>> = {
  rooms: "main",
  budgets: "shared",
  shops: "tickets",
  "rooms.main.lanes": "vip",
};
const COLUMNS_MAX = 100;

/** The file at the top of the example, in a comment. */
export const QUICK_START = `origin:
  addresses: [http://127.0.0.1:3000]
rooms:
  main:
    totalActiveUsers: 500
    newUsersPerMinute: 100
    sessionDuration: 5m
    enabledOriginCommands: [revoke]
`;

const HEADER = `# A complete fairgate.yaml is as short as this:
#
${QUICK_START.replace(/^(?=.)/gm, "#   ")}#
# A slot stays taken for \`sessionDuration\` after the visitor's last click, so these 500 slots admit 100 visitors a
# minute; it is free sooner only if the origin ends the visit (\`Fairgate-Command: revoke\`), the visitor leaves
# (POST /.fairgate/main/leave), or \`sessionDuration\` is shorter.
#
# Below is every setting with its default. Copy what you need to fairgate.yaml and leave out the rest; \`fairgate check\`
# says whether the file is good. Lines that start with # and no space are settings that are off.
#
# Durations are written 500ms, 45s, 10m, 2h or 1d; sizes 16KB or 100MB; percentages 5%.
# Keep the secret out of this file:  export FAIRGATE_SECRET=$(fairgate keys new)
`;

/** The whole example file. */
export function exampleYaml(root: Setting): string {
  return `${HEADER}${root.children.map((setting) => `\n${block(setting, [])}`).join("")}`;
}

function block(setting: Setting, parents: readonly string[]): string {
  const path = [...parents, setting.key];
  const indent = "  ".repeat(parents.length);
  const id = path.join(".");
  const about = comment(setting, id, indent);
  const isOff = id in OFF || (mayBeNothing(setting) && !ON.has(id));
  const lines = isShortcut(setting, id)
    ? `${indent}${pair(setting.key, EXAMPLES[id] ?? null)}`
    : body(setting, path, indent);
  return about + (isOff ? switchOff(lines) : `${lines}\n`);
}

/** True for a mapping that is null or empty by default. */
function mayBeNothing(setting: Setting): boolean {
  return isMappingSetting(setting) && (setting.default === null || setting.entry !== null);
}

/** A room's own origin has the same settings as the one at the top, which are shown there. */
function isShortcut(setting: Setting, id: string): boolean {
  return id === "rooms.main.origin" && setting.isNullable;
}

function body(setting: Setting, path: readonly string[], indent: string): string {
  const id = path.join(".");
  if (setting.children.length > 0) {
    return `${indent}${setting.key}:\n${setting.children.map((child) => block(child, path)).join("")}`.trimEnd();
  }
  if (setting.entry && !setting.isList) {
    const name = EXAMPLE_NAMES[id] ?? "name";
    const entry = setting.entry.children.map((child) => block(child, [...path, name])).join("");
    return `${indent}${setting.key}:\n${indent}  ${name}:\n${entry}`.trimEnd();
  }
  const value = OFF[id] ?? EXAMPLES[id] ?? setting.default ?? null;
  if (Array.isArray(value) && value.some((item) => typeof item === "object"))
    return indented(stringify({ [setting.key]: value }, { lineWidth: 0 }).trim(), indent);
  return `${indent}${pair(setting.key, value)}`;
}

function indented(lines: string, indent: string): string {
  return lines.replace(/^/gm, indent);
}

function pair(key: string, value: unknown): string {
  return stringify({ [key]: value }, { collectionStyle: "flow", flowCollectionPadding: false, lineWidth: 0 })
    .trim()
    .replace(/^\{(.*)\}$/s, "$1");
}

function comment(setting: Setting, id: string, indent: string): string {
  const shape = isMappingSetting(setting) ? "" : ` (${setting.shape}${defaultNote(setting, id)})`;
  return wrap(setting.description + shape, COLUMNS_MAX - indent.length)
    .map((line) => `${indent}# ${line}\n`)
    .join("");
}

function defaultNote(setting: Setting, id: string): string {
  return id in EXAMPLES && setting.default !== undefined
    ? `; default ${JSON.stringify(setting.default)}`
    : "";
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A `#` before every setting; comments stay comments. */
function switchOff(lines: string): string {
  return lines
    .split("\n")
    .map((line) => (/^\s*#/.test(line) ? line : line.replace(/^(\s*)/, "$1#")))
    .map((line) => `${line}\n`)
    .join("");
}
