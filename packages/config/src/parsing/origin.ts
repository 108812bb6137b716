import { unreachable } from "@oaas/foundation";
import type { FilePlace } from "../file/read-config-file.ts";
import { flagOf } from "./flags.ts";

/** Source of an effective value. */
export type Origin =
  | { readonly from: "unset" }
  | { readonly from: "default" }
  | { readonly from: "profile"; readonly profile: string }
  | { readonly from: "env"; readonly name: string }
  | { readonly from: "alias"; readonly name: string }
  | { readonly from: "config-file"; readonly place: FilePlace }
  | { readonly from: "file"; readonly name: string; readonly file: string }
  | { readonly from: "flag"; readonly name: string }
  | { readonly from: "not-used"; readonly reason: string };

/** Formats an origin. */
export function originText(origin: Origin): string {
  switch (origin.from) {
    case "unset":
      return "not set";
    case "default":
      return "default";
    case "profile":
      return `default of profile ${origin.profile}`;
    case "env":
      return "environment";
    case "alias":
      return `environment, as ${origin.name}`;
    case "config-file":
      return `${origin.place.file}:${origin.place.line}, ${origin.place.key}`;
    case "file":
      return `file ${origin.file}, from ${origin.name}`;
    case "flag":
      return `flag ${flagOf(origin.name)}`;
    case "not-used":
      return `no effect: ${origin.reason}`;
    default:
      return unreachable(origin);
  }
}
