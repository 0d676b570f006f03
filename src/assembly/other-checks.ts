/** What the settings check is handed of other folders: how a waiting page and a catalogue are looked at. */
import type { OtherChecks } from "../config/load.ts";
import { checkTemplate } from "../gateway/page/render.ts";
import { checkCatalogue } from "../shop/rules/check-catalogue.ts";

export const OTHER_CHECKS: OtherChecks = {
  checkPage: checkTemplate,
  checkCatalogue: (written) => {
    const checked = checkCatalogue(written, 1);
    return checked.ok ? [] : checked.problems;
  },
};
