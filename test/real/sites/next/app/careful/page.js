import { book } from "../book.js";
import { CarefulForm } from "./careful-form.js";

export const dynamic = "force-dynamic";

export default function Careful() {
  return (
    <main>
      <h1>Book with care</h1>
      <CarefulForm book={book} />
    </main>
  );
}
