import { testAttack } from "./held.ts";
import { slowReaders } from "./slow-readers.ts";

testAttack(slowReaders);
