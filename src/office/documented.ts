/** A schema of settings as the OpenAPI document has it: in the words of the settings file, without our own notes. */
import { z } from "@hono/zod-openapi";

/** `hasDefaults`: what a setting is when it is left out is part of it. */
export function documented(schema: z.ZodType, { hasDefaults }: { hasDefaults: boolean }): object {
  return plain({ ...z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) }, hasDefaults);
}

interface JsonSchema {
  readonly [key: string]: unknown;
}

/** Without our own notes; what a value should be goes into its description. */
function plain(schema: JsonSchema, hasDefaults: boolean): JsonSchema {
  const { $schema, kind, shape, isSecret, default: preset, ...rest } = schema;
  const parts = Object.entries(rest).map(([key, part]) => [key, plainPart(key, part, hasDefaults)]);
  return {
    ...Object.fromEntries(parts),
    ...(typeof shape === "string" ? { description: describe(rest.description, shape) } : {}),
    ...(hasDefaults && preset !== undefined ? { default: preset } : {}),
  };
}

function plainPart(key: string, part: unknown, hasDefaults: boolean): unknown {
  if (key === "items" || (key === "additionalProperties" && typeof part === "object"))
    return plain(part as JsonSchema, hasDefaults);
  if (key === "anyOf") return (part as JsonSchema[]).map((option) => plain(option, hasDefaults));
  if (key !== "properties") return part;
  const settings = Object.entries(part as Record<string, JsonSchema>);
  return Object.fromEntries(settings.map(([name, setting]) => [name, plain(setting, hasDefaults)]));
}

function describe(description: unknown, shape: string): string {
  return `${typeof description === "string" ? `${description} ` : ""}It should be ${shape}.`;
}
