"use client";
// A form that keeps what was typed when its server action is not answered as one.
import { useEffect, useState } from "react";

export function CarefulForm({ book }) {
  const [name, setName] = useState("");
  const [note, setNote] = useState("");
  useEffect(() => setNote("Ready"), []);
  async function send(event) {
    event.preventDefault();
    try {
      setNote(`Booked for ${await book(new FormData(event.target))}`);
    } catch {
      setNote("Not sent yet. Please try again.");
    }
  }
  return (
    <form onSubmit={send}>
      <label>
        Name <input name="name" value={name} onChange={(event) => setName(event.target.value)} required />
      </label>
      <button type="submit">Book</button>
      <p role="status">{note}</p>
    </form>
  );
}
