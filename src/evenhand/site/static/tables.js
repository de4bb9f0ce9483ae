// Marks every table that is wider than its frame, so that it says so. Without this script its shadow still does.
"use strict";
(() => {
  const frames = [...document.querySelectorAll(".table-frame")];
  const look = (frame) => frame.classList.toggle("cut", frame.scrollWidth > frame.clientWidth + 1);
  const watching = new ResizeObserver((seen) => {
    for (const one of seen) look(one.target);
  });
  for (const frame of frames) watching.observe(frame);
})();
