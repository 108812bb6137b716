import { freezeWindow, omitUndefined } from "@oaas/contracts/rest";
import type { FreezeWindowName } from "@oaas/models";
import type { FreezeCalendar } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import type { Parameters } from "./parameters.ts";

/** Handlers of the calendar of freeze windows. */
export function freezeWindowHandlers(calendar: FreezeCalendar): HandlersOf<"freeze-windows"> {
  const nameIn = (parameters: Parameters): FreezeWindowName => parameters["name"] as FreezeWindowName;
  return {
    listFreezeWindows: async () => json(calendar.list().map((window) => freezeWindow.toJson(window))),
    getFreezeWindow: async ({ parameters }) => json(freezeWindow.toJson(calendar.get(nameIn(parameters)))),
    setFreezeWindow: async ({ parameters, body, call }) => {
      const { duration_secs: durationSeconds, time_zone: timeZone, reason = call.reason, ...rest } = body;
      const spec = omitUndefined({ ...rest, durationSeconds, timeZone, reason });
      return json(freezeWindow.toJson(await calendar.set(nameIn(parameters), spec, call)));
    },
    deleteFreezeWindow: async ({ parameters }) => {
      await calendar.delete(nameIn(parameters));
      return { status: 204 };
    },
  };
}
