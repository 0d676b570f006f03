"use client";
// Asks the shop's own API from the browser.
import { useEffect, useState } from "react";

export function SeatsLeft() {
  const [left, setLeft] = useState("…");
  useEffect(() => {
    fetch("/api/seats")
      .then((answer) => answer.json())
      .then(({ seats }) => setLeft(seats));
  }, []);
  return <p id="seats">{left} seats left</p>;
}
