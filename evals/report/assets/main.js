// Begins when all pages are known.
document.documentElement.classList.add("scripted");
evalsReport.pages.start();
