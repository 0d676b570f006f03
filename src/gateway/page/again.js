/**
 * For someone whose form was refused: when their turn comes it is used at once, so that it is not lost while they make up
 * their mind, and they are offered to send the form. The browser has it still; nothing of it was kept anywhere else.
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
