// SPDX-License-Identifier: GPL-2.0
// Makes the tables of a report sortable, opens what is behind a row, and shows the symbols that
// changed. The part of the address after "#" holds the state: sort=KEY (-KEY: ascending),
// filter=WORDS, topic=NAME, open=all or TABLE.ROW.
"use strict";
(() => {
	const {kinds, symbols} = JSON.parse(document.getElementById("symbols").textContent);
	const tables = [...document.querySelectorAll("table.rows")];
	const bodies = tables.map((table) => [...table.tBodies]);
	const filter = document.getElementById("filter");
	const topic = document.getElementById("topic");
	let state = new URLSearchParams();

	const make = (name, properties = {}, ...children) => {
		const element = Object.assign(document.createElement(name), properties);
		element.append(...children);
		return element;
	};

	const number = (value) => value < 100 ? String(Number(value.toPrecision(3))) :
		Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");

	// --- sorting

	const sort = (table, own, key, sign) => {
		const heads = [...table.querySelectorAll("[data-key]")];
		// The two headings that span both lines are the first two columns.
		const column = heads.findIndex((head) => head.dataset.key === key);
		heads.forEach((head) => head.removeAttribute("aria-sort"));
		heads[column]?.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
		table.classList.toggle("sorted", column >= 0);
		const cell = (body) => body.rows[0].cells[column];
		const compare = (a, b) => {
			if (column === 0)
				return sign * cell(a).textContent.localeCompare(cell(b).textContent);
			const [x, y] = [a, b].map((body) => Number(cell(body).dataset.v));
			// What was not counted comes last, whatever the direction.
			return isNaN(x) - isNaN(y) || sign * (x - y);
		};
		table.append(...(column < 0 ? own : [...own].sort(compare)));
	};

	const clicked = (key) => {
		// Numbers: largest first. A third click restores the order of the report.
		const order = ["workload", "kib"].includes(key) ? [`-${key}`, key, ""] : [key, `-${key}`, ""];
		change("sort", order[(order.indexOf(state.get("sort")) + 1) % 3]);
	};

	// --- symbols

	// A symbol is its name, then both sides of each kind.
	const bars = (found, kind) => {
		const at = 1 + 2 * kinds.indexOf(kind);
		const sides = (one) => [one[at] ?? 0, one[at + 1] ?? 0];
		const change = (one) => Math.abs(sides(one)[0] - sides(one)[1]);
		const changed = found.filter(change).sort((a, b) => change(b) - change(a));
		const most = Math.max(...changed.flatMap(sides));
		const bar = (value, side) => {
			const element = make("span", {className: `bar ${"ab"[side]}`});
			element.style.width = `${(value / most * 100).toFixed(2)}%`;
			return element;
		};
		return changed.map((one) => make("div", {className: "symbol"},
			make("code", {textContent: one[0], title: one[0]}),
			make("span", {className: "bars"}, ...sides(one).map(bar)),
			make("span", {className: "numbers"}, sides(one).map(number).join(" → "))));
	};

	const chart = (found) => {
		const options = kinds.filter((kind) => bars(found, kind).length).map((kind) =>
			make("option", {value: kind, textContent: kind === "insns" ? "instructions" : kind}));
		if (!options.length)
			return make("p", {className: "symbols none", textContent: "No symbol changed."});
		const choice = make("select", {ariaLabel: "what the bars show"}, ...options);
		const list = make("div");
		const show = () => list.replaceChildren(...bars(found, choice.value));
		choice.addEventListener("change", show);
		show();
		return make("div", {className: "symbols"},
			make("h3", {}, "Symbols that changed", choice), list);
	};

	// --- state

	const apply = () => {
		const key = state.get("sort") ?? "";
		tables.forEach((table, at) =>
			sort(table, bodies[at], key.replace(/^-/, ""), key.startsWith("-") ? 1 : -1));
		const words = (state.get("filter") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
		for (const body of bodies.flat()) {
			const [name, size] = [...body.rows[0].cells].map((cell) => cell.textContent);
			body.hidden = ![body.dataset.topic, "", null].includes(state.get("topic")) ||
				!words.every((word) => /^\d+$/.test(word) ?
				size === word || name.split(" ").includes(word) :
				name.toLowerCase().includes(word));
		}
		topic.value = state.get("topic") ?? "";
		if (document.activeElement !== filter)
			filter.value = state.get("filter") ?? "";
	};

	const change = (key, text) => {
		if (text)
			state.set(key, text);
		else
			state.delete(key);
		history.replaceState(null, "", `#${state}`);
		apply();
	};

	const read = () => {
		state = new URLSearchParams(location.hash.slice(1));
		apply();
		bodies.forEach((own, table) => own.forEach((body, row) => {
			if (["all", `${table}.${row}`].includes(state.get("open")))
				body.querySelector("details").open = true;
		}));
	};

	for (const head of document.querySelectorAll("[data-key]")) {
		const button = make("button", {type: "button", textContent: head.textContent});
		button.addEventListener("click", () => clicked(head.dataset.key));
		head.replaceChildren(button);
	}
	bodies.forEach((own, table) => own.forEach((body, row) => {
		const name = body.rows[0].cells[0], more = body.querySelector(".more");
		const details = make("details", {}, make("summary", {}, ...name.childNodes));
		details.addEventListener("toggle", () => {
			more.hidden = !details.open;
			if (!more.querySelector(".symbols"))
				more.querySelector(".inside").append(chart(symbols[table][row]));
		});
		name.append(details);
	}));
	document.getElementById("tools").hidden = false;
	topic.addEventListener("change", () => change("topic", topic.value));
	filter.addEventListener("input", () => change("filter", filter.value));
	addEventListener("hashchange", read);
	read();
})();
