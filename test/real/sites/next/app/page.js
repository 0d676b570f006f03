// The front page: links that Next.js prefetches, a picture that it optimizes, a call to the API, and a form that is a server
// action and works without scripts.
import Image from "next/image";
import Link from "next/link";
import { book } from "./book.js";
import { booked } from "./books.js";
import { SeatsLeft } from "./seats-left.js";

export const dynamic = "force-dynamic";

const ROWS = ["a", "b", "c", "d", "e"];

export default function Page() {
  return (
    <main>
      <h1>The shop</h1>
      <Image src="/hall.png" alt="The hall" width={64} height={64} priority />
      <SeatsLeft />
      <nav>
        {ROWS.map((row) => (
          <Link key={row} href={`/rows/${row}`}>
            Row {row}
          </Link>
        ))}
      </nav>
      <form action={book}>
        <label>
          Name <input name="name" required />
        </label>
        <button type="submit">Book</button>
      </form>
      <ul>
        {booked().map((name) => (
          <li key={name}>Booked for {name}</li>
        ))}
      </ul>
    </main>
  );
}
