// Which questions of a run are listed: by words, failure, slice, and the range of a metric.
(function (app) {
  "use strict";

  const RIGHT = "-";
  const FAILED = "any";

  /** What an address asks for. */
  function fromQuery(query) {
    return {
      words: query.get("words") || "",
      failure: query.get("failure") || "",
      slice: query.get("slice") || "",
      metric: query.get("metric") || "",
      from: query.get("from") || "",
      to: query.get("to") || "",
      order: query.get("order") || "",
    };
  }

  /** The same for an address, without what is not asked for. */
  function toQuery(filter) {
    return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
  }

  /** The numbers of the questions that a filter leaves, in the order that it asks for. */
  function chosen(data, filter) {
    const tests = [words(data, filter), failure(data, filter), slice(data, filter), range(data, filter)].filter(Boolean);
    const left = [];
    for (let number = 0; number < data.count; number += 1) {
      if (tests.every((test) => test(number))) left.push(number);
    }
    return ordered(data, filter, left);
  }

  function words(data, filter) {
    const wanted = filter.words.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return null;
    data.searched ||= data.ids.map((id, number) => `${id}\n${data.questions[number]}\n${data.answers[number]}`.toLowerCase());
    return (number) => wanted.every((word) => data.searched[number].includes(word));
  }

  function failure(data, filter) {
    if (!filter.failure) return null;
    const isFailure = (link) => link !== null && link !== "right_without_gold";
    if (filter.failure === FAILED) return (number) => isFailure(data.links[number]);
    if (filter.failure === RIGHT) return (number) => !isFailure(data.links[number]);
    return (number) => data.links[number] === filter.failure;
  }

  function slice(data, filter) {
    const found = data.slices.find((each) => filter.slice.startsWith(`${each.key}=`));
    if (!found) return null;
    const place = found.values.indexOf(filter.slice.slice(found.key.length + 1));
    return (number) => found.places[number] === place;
  }

  function range(data, filter) {
    const metric = metricOf(data, filter);
    if (!metric || (filter.from === "" && filter.to === "")) return null;
    const low = filter.from === "" ? -Infinity : Number(filter.from);
    const high = filter.to === "" ? Infinity : Number(filter.to);
    return (number) => metric.values[number] !== null && metric.values[number] >= low && metric.values[number] <= high;
  }

  /** The metric that a filter names. */
  function metricOf(data, filter) {
    return data.metrics.find((metric) => metric.name === filter.metric) || null;
  }

  /** By the value of the metric where that is asked for, those without one at the end; else as they were asked. */
  function ordered(data, filter, left) {
    const metric = metricOf(data, filter);
    if (!metric || !filter.order) return left;
    const sign = filter.order === "down" ? -1 : 1;
    const value = (number) => metric.values[number];
    return left.sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)) || a - b);
  }

  app.filters = { fromQuery, toQuery, chosen, metricOf, FAILED, RIGHT };
})(evalsReport);
