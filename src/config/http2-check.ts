/** A caution about HTTP/2 to origins: a setting that no address of the origin can follow. */
import { type Finding, formatPath, type Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings, OriginSettings } from "./schema.ts";

export function http2Cautions({ origin, rooms }: Known<FileSettings>): Finding[] {
  return [
    ...cautionOf(origin, ["origin"]),
    ...Object.entries(rooms ?? {}).flatMap(([name, room]) =>
      cautionOf(room?.origin, ["rooms", name, "origin"]),
    ),
  ];
}

function cautionOf(origin: Known<OriginSettings> | null | undefined, at: Path): Finding[] {
  const addresses = origin?.addresses ?? [];
  const isIdle = addresses.length > 0 && addresses.every((address) => !address.startsWith("https:"));
  if (origin?.http2 !== "tls" || !isIdle) return [];
  const path = [...at, "http2"];
  const message = `${formatPath(path)} is tls, and no address begins with https`;
  return [
    { code: "caution", path, at: "value", message, hint: "For HTTP/2 without TLS (h2c) write always." },
  ];
}
