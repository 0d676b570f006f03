/**
 * For visitors whose form was refused: their turn is used at once, so that it is not lost while they decide, and they are
 * offered to send the form again. Only the browser still has it.
 */
import { alertVisitor, all, ask, end, later, miss, texts, view, ways } from "./page.js";

const AGAIN_MS = 2_000;

ways.in = async () => {
  try {
    const { status } = await ask("enter", "POST");
    if (status !== "entered") return;
  } catch {
    miss();
    return later("in", AGAIN_MS, ways.in);
  }
  alertVisitor();
  end({ heading: texts.turn.heading, ...view.again });
  for (const link of all("go"))
    link.onclick = () => {
      location.reload();
      return false;
    };
};
