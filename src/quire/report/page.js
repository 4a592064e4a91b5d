// SPDX-License-Identifier: GPL-2.0
// Makes the tables of a report sortable and shows what is behind a row. The part of the address
// after "#" holds the state: sort=KEY (-KEY: ascending), filter=WORDS, topic=NAME, open=all or PART.ROW.
"use strict";
(() => {
	const report = JSON.parse(document.getElementById("report").textContent);
	const parts = [...report.architectures, ...report.further_cpus];
	const labels = [report.sides.a.label, report.sides.b.label];
	const tables = [...document.querySelectorAll("table")];
	const bodies = [...document.querySelectorAll("tbody")];
	const filter = document.getElementById("filter");
	const topic = document.getElementById("topic");
	const notable = Number(document.currentScript.dataset.notable);
	const state = new URLSearchParams();

	const make = (name, properties = {}, ...children) => {
		const element = Object.assign(document.createElement(name), properties);
		element.append(...children);
		return element;
	};

	// As in the tables on a terminal.
	const number = (value) => {
		if (value === undefined)
			return "–";
		if (value >= 100)
			return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
		if (value === 0)
			return "0";
		return value >= 10 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) :
			String(Number(value.toPrecision(3)));
	};

	// --- sorting

	const column = (table, key) => {
		const heads = [...table.querySelectorAll("thead th[data-key]")];
		// The two that span both lines are the first two columns.
		return heads.findIndex((head) => head.dataset.key === key);
	};

	const value = (body, index) => {
		const cell = body.rows[0].cells[index];
		return index === 0 ? cell.textContent : cell.dataset.v === undefined ? null :
			Number(cell.dataset.v);
	};

	// What was not counted comes last, whatever the direction.
	const compare = (a, b, sign) => {
		if (a === null || b === null)
			return (a === null) - (b === null);
		return sign * (typeof a === "string" ? a.localeCompare(b) : a - b);
	};

	const sortTable = (table, key, ascending) => {
		const index = column(table, key);
		for (const head of table.querySelectorAll("[aria-sort]"))
			head.removeAttribute("aria-sort");
		table.classList.toggle("sorted", index >= 0);
		const own = bodies.filter((body) => table.contains(body));
		if (index >= 0) {
			table.querySelector(`thead [data-key="${CSS.escape(key)}"]`)
				.setAttribute("aria-sort", ascending ? "ascending" : "descending");
			const sign = ascending ? 1 : -1;
			own.sort((a, b) => compare(value(a, index), value(b, index), sign));
		}
		table.append(...own);
	};

	const clicked = (key) => {
		// Numbers: largest first. A third click restores the order of the report.
		const [first, second] = key === "workload" || key === "kib" ?
			[`-${key}`, key] : [key, `-${key}`];
		const now = state.get("sort");
		change("sort", now === first ? second : now === second ? "" : first);
	};

	// --- what is behind a row

	// Side B's colour: has it fewer?
	const style = (a, b) => a === undefined || b === undefined ||
		Math.abs(a - b) <= notable * b ? "" : b < a ? "good" : "bad";

	const costs = (row) => {
		const both = (name, key) => [name, row.a[key] ?? undefined, row.b[key] ?? undefined];
		const all = (from, name) => Object.keys({...row.a[from], ...row.b[from]}).map((key) =>
			[name(key), row.a[from][key], row.b[from][key]]);
		const named = (key) => report.kinds.includes(key) ? key.replace("tlb", "TLB") : `lock: ${key}`;
		const lines = [
			both("instructions", "instructions_per_unit"),
			both("in the kernel", "kernel_instructions_per_unit"),
			both("unmapping alone", "own_instructions_per_unit"),
			...all("cost", named),
		].filter(([, a, b]) => a !== undefined || b !== undefined);
		const none = lines.filter(([, a, b]) => !a && !b).map(([name]) => name);
		const body = lines.filter(([, a, b]) => a || b).map(([name, a, b]) =>
			make("tr", {}, make("th", {textContent: name}), make("td", {textContent: number(a)}),
				make("td", {textContent: number(b), className: style(a, b)})));
		const head = make("tr", {}, make("th"),
			...labels.map((name) => make("th", {textContent: name})));
		const notes = none.length ? [`None: ${none.join(", ").replace(/, lock: /g, ", ")}.`] : [];
		return make("div", {className: "cost"}, make("h3", {textContent: `Per ${row.unit}`}),
			make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)),
			...notes.map((text) => make("p", {className: "none", textContent: text})));
	};

	// A symbol is its name, then both sides of each kind.
	const spent = (symbol, kind, side) =>
		symbol[1 + 2 * report.symbol_kinds.indexOf(kind) + side] ?? 0;

	const bars = (row, kind) => {
		const change = (one) => Math.abs(spent(one, kind, 0) - spent(one, kind, 1));
		const found = row.symbols.filter(change).sort((a, b) => change(b) - change(a));
		const most = Math.max(...found.flatMap((one) => [spent(one, kind, 0), spent(one, kind, 1)]));
		const bar = (one, side) => {
			const element = make("span", {className: `bar ${"ab"[side]}`});
			element.style.width = `${(spent(one, kind, side) / most * 100).toFixed(2)}%`;
			return element;
		};
		return found.map((one) => make("div", {className: "symbol"},
			make("code", {textContent: one[0], title: one[0]}),
			make("span", {className: "bars"}, bar(one, 0), bar(one, 1)),
			make("span", {
				className: "numbers",
				textContent: `${number(spent(one, kind, 0))} → ${number(spent(one, kind, 1))}`,
			})));
	};

	const symbols = (row) => {
		const kinds = report.symbol_kinds.filter((kind) => bars(row, kind).length);
		const choice = make("select", {ariaLabel: "what the bars show"}, ...kinds.map((kind) =>
			make("option", {value: kind, textContent: kind === "insns" ? "instructions" : kind})));
		const list = make("div");
		const show = () => list.replaceChildren(...bars(row, choice.value));
		choice.addEventListener("change", show);
		if (!kinds.length)
			return make("p", {className: "symbols none", textContent: "No symbol changed."});
		show();
		return make("div", {className: "symbols"},
			make("h3", {}, "Symbols that changed", choice), list);
	};

	const toggle = (body, open) => {
		if (!open) {
			body.querySelector(".more")?.remove();
			return;
		}
		if (body.querySelector(".more"))
			return;
		const row = parts[body.dataset.part].rows[body.dataset.row];
		const cell = make("td", {colSpan: body.rows[0].cells.length},
			make("div", {className: "inside"}, costs(row), symbols(row)));
		body.append(make("tr", {className: "more"}, cell));
	};

	// --- state

	const apply = () => {
		const sort = state.get("sort") ?? "";
		for (const table of tables)
			sortTable(table, sort.replace(/^-/, ""), sort.startsWith("-"));
		const words = (state.get("filter") ?? "").toLowerCase().split(/\s+/).filter(Boolean);
		for (const body of bodies) {
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
		for (const key of [...state.keys()])
			state.delete(key);
		for (const [key, text] of new URLSearchParams(location.hash.slice(1)))
			state.set(key, text);
		apply();
		const open = state.get("open");
		for (const body of bodies)
			if (open === "all" || open === `${body.dataset.part}.${body.dataset.row}`)
				body.querySelector("details").open = true;
	};

	for (const head of document.querySelectorAll("thead th[data-key]")) {
		const button = make("button", {type: "button", textContent: head.textContent});
		button.addEventListener("click", () => clicked(head.dataset.key));
		head.replaceChildren(button);
	}
	for (const body of bodies) {
		const head = body.rows[0].cells[0];
		const details = make("details", {}, make("summary", {}, ...head.childNodes));
		details.addEventListener("toggle", () => toggle(body, details.open));
		head.append(details);
	}
	document.getElementById("tools").hidden = false;
	topic.addEventListener("change", () => change("topic", topic.value));
	filter.addEventListener("input", () => change("filter", filter.value));
	addEventListener("hashchange", read);
	read();
})();
