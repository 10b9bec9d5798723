// Which questions of a run are listed, and in which order: by words, outcome, slice, and the range of a metric.
(function (app) {
  "use strict";

  const RIGHT = "-";
  const FAILED = "any";
  const KEYS = ["words", "failure", "slice", "metric", "from", "to", "sort", "way", "columns"];

  /** What an address asks for. */
  function fromQuery(query) {
    return Object.fromEntries(KEYS.map((key) => [key, query.get(key) || ""]));
  }

  /** The same for an address, without what is not asked for. */
  function toQuery(filter) {
    return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
  }

  /** The numbers of the questions that a filter leaves. */
  function chosen(data, filter) {
    const tests = [words(data, filter), failure(data, filter), slice(data, filter), range(data, filter)].filter(Boolean);
    return d3.range(data.count).filter((number) => tests.every((test) => test(number)));
  }

  function words(data, filter) {
    const wanted = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return null;
    data.searched ||= data.ids.map((id, number) => `${id}\n${data.questions[number]}\n${data.answers[number]}`.toLowerCase());
    return (number) => wanted.every((word) => data.searched[number].includes(word));
  }

  /** Whether a question is known to have failed. */
  function isFailure(data, number) {
    return data.links[number] !== null && data.links[number] !== "right_without_gold";
  }

  function failure(data, filter) {
    if (!filter.failure) return null;
    if (filter.failure === FAILED) return (number) => isFailure(data, number);
    if (filter.failure === RIGHT) return (number) => !isFailure(data, number);
    return (number) => data.links[number] === filter.failure;
  }

  function slice(data, filter) {
    const found = data.slices.find((each) => filter.slice.startsWith(`${each.key}=`));
    if (!found) return null;
    const place = found.values.indexOf(filter.slice.slice(found.key.length + 1));
    return (number) => found.places[number] === place;
  }

  function range(data, filter) {
    const metric = data.metrics.find((each) => each.name === filter.metric);
    if (!metric || (filter.from === "" && filter.to === "")) return null;
    const low = filter.from === "" ? -Infinity : Number(filter.from);
    const high = filter.to === "" ? Infinity : Number(filter.to);
    return (number) => metric.values[number] !== null && metric.values[number] >= low && metric.values[number] <= high;
  }

  /** How a question ended, in words. */
  function outcome(data, number) {
    const error = data.errors[number];
    if (error) return error.replaceAll("_", " ");
    return data.links[number] ? data.labels[data.links[number]] : "no failure found";
  }

  app.filters = { fromQuery, toQuery, chosen, isFailure, outcome, FAILED, RIGHT };
})(evalsReport);
