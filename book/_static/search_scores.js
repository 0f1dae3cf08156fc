// Scores of search results: those of Sphinx, except that names of the API come after all pages.
// A query with a dot or an underscore, such as pareto_mask, is such a name, and keeps the order of Sphinx.
const NAME = /[._]/;

var Scorer = {
  score: ([page, , , , score]) => {
    const query = new URLSearchParams(window.location.search).get("q") ?? "";
    return page.startsWith("book/api") && !NAME.test(query) ? score - 100 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
