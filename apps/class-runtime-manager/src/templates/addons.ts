import { err, ok, pathOf, ROOT_PATH, type Result } from "@oaas/foundation";
import { odgmAddon } from "../odgm/addon.ts";
import type { Addon } from "../rendering/addon.ts";
import type { Refusal } from "./template.ts";
import type { RenderInput } from "../rendering/model/render-input.ts";

/** All addons. To add one, implement `Addon` and list it here. */
export const ADDONS: readonly Addon[] = [odgmAddon];

/** An addon that is rendered for a class. */
export interface SelectedAddon {
  readonly addon: Addon;
  /** False when the class only keeps it. */
  readonly isSelected: boolean;
}

/**
 * Selects the addons of a class: those it lists, else those of its environment, else those that its spec implies.
 * Rejects unknown addons and addons that are not available in this cluster.
 */
export function selectAddons(
  input: RenderInput,
  known: readonly Addon[] = ADDONS,
): Result<readonly SelectedAddon[], Refusal> {
  const { spec, environment } = input;
  const listed = spec.addons ?? environment?.spec.default_addons;
  const ids = listed?.map((id) => id.toLowerCase());
  const unknown = ids?.find((id) => !known.some((addon) => addon.id === id));
  if (unknown !== undefined) {
    const names = known.map(({ id }) => id);
    return err({
      kind: "addon-unknown",
      message: `unknown addon "${unknown}"; known addons: ${names.join(", ")}`,
      known: names,
      addon: unknown,
      violations: [
        {
          path: pathOf(ROOT_PATH, "addons"),
          message: `unknown addon "${unknown}"`,
          fix: `use one of ${names.join(", ")}`,
        },
      ],
    });
  }
  const selected = known
    .map((addon) => ({
      addon,
      isSelected: !addon.isDisabled(input) && (ids === undefined ? addon.isImplied(input) : ids.includes(addon.id)),
    }))
    .filter(({ addon, isSelected }) => isSelected || addon.isKept(input));
  for (const { addon } of selected) {
    const { id } = addon;
    const reason = addon.unavailableReason(input);
    if (reason === undefined) continue;
    return err({
      kind: "addon-disabled",
      message: `the class needs addon "${id}", but ${reason}`,
      known: known.map((one) => one.id),
      addon: id,
      violations: [{ path: pathOf(ROOT_PATH, "addons"), message: `addon "${id}" is not available: ${reason}` }],
    });
  }
  return ok(selected);
}
