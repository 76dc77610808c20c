// Times are written in UTC by the server. Here they become local, relative while recent, with UTC left in the title.
(() => {
  "use strict";
  const DAY = 24 * 60 * 60;
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || "en", { numeric: "auto" });

  const inWords = (moment, now) => {
    const seconds = Math.round((moment - now) / 1000);
    const age = Math.abs(seconds);
    if (age >= DAY) return full.format(moment);
    if (age < 60) return "just now";
    return age < 3600
      ? relative.format(Math.trunc(seconds / 60), "minute")
      : relative.format(Math.trunc(seconds / 3600), "hour");
  };

  const localise = (root, words) => {
    const now = Date.now();
    for (const element of root.querySelectorAll("time[datetime]")) {
      const moment = new Date(element.dateTime);
      if (!Number.isNaN(moment.getTime())) element.textContent = words(moment, now);
    }
  };

  const refresh = () => localise(document, inWords);
  refresh();
  setInterval(refresh, 60 * 1000);
  document.addEventListener("htmx:load", (event) => localise(event.target, inWords));
  // On paper "an hour ago" says nothing.
  window.addEventListener("beforeprint", () => localise(document, (moment) => full.format(moment)));
  window.addEventListener("afterprint", refresh);
})();
