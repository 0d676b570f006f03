import { testAttack } from "./held.ts";
import { slowUploads } from "./slow-uploads.ts";

testAttack(slowUploads);
