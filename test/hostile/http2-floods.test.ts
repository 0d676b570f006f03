import { testAttack } from "./held.ts";
import { http2Floods } from "./http2-floods.ts";

testAttack(http2Floods);
