// A shop in Next.js, as `create-next-app` leaves one. The packages are two folders up.
import { dirname } from "node:path";

export default { turbopack: { root: dirname(dirname(import.meta.dirname)) } };
