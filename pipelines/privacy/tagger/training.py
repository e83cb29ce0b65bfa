"""Trains the tagger and writes its weights; ``jobs/tagger_train.py`` is the command.

Needs torch and Faker. One thread; equal seeds and sources give equal weights on one machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file
from torch.nn import functional

from pipelines.privacy.tagger.features import (
    FEATURES,
    LEXEME_FEATURES,
    TABLE_BITS,
    feature_rows,
)
from pipelines.privacy.tagger.lexicon import COMMON, FAMILY, GIVEN, PLACE, Lexicon, lexemes_of, short
from pipelines.privacy.tagger.network import KINDS, SPREAD, TAPS
from pipelines.privacy.tagger.tokens import FIRST_SEPARATOR, PLAIN, Tokens, Words, pack, tokenize
from pipelines.privacy.tagger.training_languages import FURTHER_WEIGHTS
from pipelines.privacy.tagger.training_text import LANGUAGE_WEIGHTS, UNKNOWN, Labelled, Sources, Writer, read_sources

WIDTHS = (32, 40, 32)
"""Of a word's vector, of layer 1 and of layer 2."""
CEILING = 8.0
"""Activations are cut here, so that 8 bits hold them."""
ROW_BITS, ACTIVATION_BITS = 7, 5
"""Binary places behind the point of table rows, and of what layer 2 gives."""
IGNORED = -100
SEQUENCE = 12_000
PEAK = 4e-3
"""Highest learning rate."""
_COMMON_COUNT = 3
_MOST_FREQUENT = 400


class SourcePaths(NamedTuple):
    """Where the sources lie: a folder of sentence files a language, name files of the census, English sentences."""

    common_voice: Path
    census: Path | None
    english: Sequence[Path]


class Batch(NamedTuple):
    """Tokens of some texts with their distinct words."""

    words: Words
    inverse: npt.NDArray[np.int64]
    is_border: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.int64]


def labels_of(tokens: Tokens, texts: Sequence[Labelled], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the label of each token: that of the span which its first byte lies in; borders are ignored."""
    spans: list[tuple[int, int, int]] = []
    for text, begin in zip(texts, starts.tolist(), strict=True):
        plain = text.text.isascii()
        for first, end, label in text.spans:
            low = first if plain else len(text.text[:first].encode())
            high = end if plain else len(text.text[:end].encode())
            spans.append((begin + low, begin + high, label))
    labels = np.zeros(tokens.start.size, np.int64)
    for low, high, label in spans:
        first, end = np.searchsorted(tokens.start, (low, high))
        labels[first:end] = IGNORED if label == UNKNOWN else label
    labels[tokens.code >= FIRST_SEPARATOR] = IGNORED
    return labels


def batches(sources: Sources, seed: int, tokens: int) -> Iterator[Batch]:
    """Yield batches of new texts until about ``tokens`` tokens were given."""
    world = sources.world(held_out=False)
    writers = [Writer(sources, code, seed, world=world) for code in LANGUAGE_WEIGHTS]
    chance = np.random.default_rng(seed)
    weights = np.array(list(LANGUAGE_WEIGHTS.values()), float)
    done = 0
    while done < tokens:
        chosen = chance.choice(len(writers), 320, p=weights / weights.sum())
        texts = [writers[place].text() for place in chosen]
        found, labels = labelled_tokens(texts)
        for start in range(0, labels.size, SEQUENCE):
            part = slice(start, start + SEQUENCE)
            _, first, inverse = np.unique(found.words.key[part], return_index=True, return_inverse=True)
            words = Words._make(column[part] for column in found.words).at(first)
            yield Batch(words, inverse, found.code[part] >= FIRST_SEPARATOR, labels[part])
            done += labels[part].size


def labelled_tokens(texts: Sequence[Labelled]) -> tuple[Tokens, npt.NDArray[np.int64]]:
    """Return the tokens of texts and their labels."""
    buffer, starts = pack([text.text.encode("utf-8", "surrogatepass") for text in texts])
    found = tokenize(buffer)
    return found, labels_of(found, texts, starts)


class Net(torch.nn.Module):  # type: ignore[misc]
    """The network in floating point; see ``network`` for its form."""

    def __init__(self) -> None:
        super().__init__()
        size, width, width_2 = WIDTHS
        self.embedding = torch.nn.EmbeddingBag(1 << TABLE_BITS, size, mode="sum")
        torch.nn.init.zeros_(self.embedding.weight)
        self.first = torch.nn.Parameter(torch.randn(size, TAPS * width) / math.sqrt(size * TAPS))
        self.first_bias = torch.nn.Parameter(torch.full((width,), 0.1))
        self.second = torch.nn.Parameter(torch.randn(3 * width, width_2) / math.sqrt(3 * width / 2))
        self.second_bias = torch.nn.Parameter(torch.full((width_2,), 0.1))
        self.third = torch.nn.Parameter(torch.randn(3 * width_2, len(KINDS)) / math.sqrt(3 * width_2))
        self.third_bias = torch.nn.Parameter(torch.zeros(len(KINDS)))

    def forward(self, features: torch.Tensor, inverse: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
        """Return the scores of tokens. ``features`` are those of distinct words; ``inside`` is 0 at borders."""
        rows = self.embedding(features) @ self.first
        width = self.first_bias.numel()
        taken = functional.pad(rows[inverse], (0, 0, TAPS // 2, TAPS // 2))
        total = inverse.numel()
        layer: torch.Tensor = self.first_bias + sum(
            taken[tap : tap + total, tap * width : (tap + 1) * width] for tap in range(TAPS)
        )
        layer = layer.clamp(0, CEILING) * inside
        layer = (_beside(layer, SPREAD) @ self.second + self.second_bias).clamp(0, CEILING) * inside
        return _beside(layer, 1) @ self.third + self.third_bias


def _beside(layer: torch.Tensor, step: int) -> torch.Tensor:
    padded = functional.pad(layer, (0, 0, step, step))
    size = layer.shape[0]
    return torch.cat([padded[:size], layer, padded[2 * step :]], dim=1)


def features_of(words: Words, lexicon: Lexicon, chance: np.random.Generator | None = None) -> npt.NDArray[np.int32]:
    """Return the features of distinct words. With ``chance``, some names lose their own rows or their signs.

    So the network learns to do without lists: names that it never saw look like those.
    """
    signs = lexicon.signs(words)
    if chance is None:
        return feature_rows(words, signs)
    is_name = ((signs & (GIVEN | FAMILY)) != 0) & ((signs & COMMON) == 0)
    capital = words.shape != PLAIN
    unlisted = is_name & capital & (chance.random(signs.size) < 0.2)
    signs = np.where(unlisted, signs & ~np.uint16(GIVEN | FAMILY | PLACE), signs)
    rows = feature_rows(words, signs)
    unknown = chance.random(signs.size) < np.where(is_name & capital, 0.35, 0.06)
    for place in LEXEME_FEATURES:
        rows[unknown, place] = 0
    return rows


def lists_of(sources: Sources) -> dict[str, npt.NDArray[np.uint32]]:
    """Return the lists that the weights carry; held-out names are in none."""
    world = sources.world(held_out=False)
    common = {word for counts in sources.common.values() for word, count in counts.items() if count >= _COMMON_COUNT}
    lists = {"given": world.given, "family": world.family, "common": sorted(common), "place": world.places}
    return {name: short(lexemes_of(words)) for name, words in lists.items()}


def words_like_names(sources: Sources) -> npt.NDArray[np.uint32]:
    """Return, as ``short`` does, ordinary words of further languages that are also names, and the most frequent."""
    world = sources.world(held_out=False)
    listed = {name.lower() for name in (*world.given, *world.family)}
    counts = (sources.common[code] for code in FURTHER_WEIGHTS)
    found = {word for one in counts for word, count in one.items() if count >= _COMMON_COUNT and word in listed}
    found |= {word for code in FURTHER_WEIGHTS for word, _ in sources.common[code].most_common(_MOST_FREQUENT)}
    return short(lexemes_of(sorted(found)))


def train(
    sources: Sources, lexicon: Lexicon, tokens: int, seed: int, told: Callable[[str], None], start: Net | None = None
) -> Net:
    """Return a trained network. Every text is new; ``start`` is trained on, at a lower rate.

    ``told`` gets a line now and then.
    """
    peak = PEAK / 4 if start else PEAK
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    net = start or Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=peak, betas=(0.9, 0.99), fused=True)
    done, step, began = 0, 0, time.process_time()
    for batch in batches(sources, seed, tokens):
        share = min(1.0, done / tokens)
        for group in optimizer.param_groups:
            group["lr"] = peak * min(1.0, (step + 1) / 50) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
        rows = features_of(batch.words, lexicon, chance)
        scores = net(
            torch.from_numpy(rows),
            torch.from_numpy(batch.inverse),
            torch.from_numpy(~batch.is_border).float().unsqueeze(1),
        )
        loss = functional.cross_entropy(scores, torch.from_numpy(batch.labels), ignore_index=IGNORED)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            net.embedding.weight[0] = 0
        done, step = done + batch.labels.size, step + 1
        if step % 100 == 0:
            told(f"{done:>10} tokens  loss {loss.item():.4f}  {time.process_time() - began:.0f} s")
    return net


def net_of(tensors: Mapping[str, npt.NDArray[Any]]) -> Net:
    """Return the network that whole-number weights stand for, to train it on."""
    table_and_first, last, _, _, third = (int(value) for value in tensors["scales"])
    first_bits = 7
    bits = {
        "embedding": table_and_first + ROW_BITS - first_bits,
        "first": first_bits,
        "first_bias": ROW_BITS,
        "second": last + ACTIVATION_BITS - ROW_BITS,
        "second_bias": last + ACTIVATION_BITS,
        "third": third - ACTIVATION_BITS,
        "third_bias": third,
    }
    net = Net()
    state = {name: torch.from_numpy(tensors[name].astype(np.float32) * 2.0**-places) for name, places in bits.items()}
    state["embedding.weight"] = state.pop("embedding")
    net.load_state_dict(state)
    return net


def whole_numbers(net: Net) -> dict[str, npt.NDArray[Any]]:
    """Return the weights as whole numbers for ``network.Weights``: powers of two as scales, 8 bits each."""
    state = {name: value.detach().numpy() for name, value in net.named_parameters()}
    table, table_bits = _rounded(state["embedding.weight"], 0.9999)
    first, first_bits = _rounded(state["first"], 1.0)
    second, second_bits = _rounded(state["second"], 1.0)
    third, third_bits = _rounded(state["third"], 1.0)
    scales = (
        table_bits + first_bits - ROW_BITS,
        ROW_BITS + second_bits - ACTIVATION_BITS,
        int(CEILING * 2**ROW_BITS) - 1,
        int(CEILING * 2**ACTIVATION_BITS) - 1,
        ACTIVATION_BITS + third_bits,
    )
    return {
        "embedding": table,
        "first": first,
        "first_bias": np.rint(state["first_bias"] * 2**ROW_BITS).astype(np.int16),
        "second": second,
        "second_bias": np.rint(state["second_bias"] * 2 ** (ROW_BITS + second_bits)).astype(np.int32),
        "third": third,
        "third_bias": np.rint(state["third_bias"] * 2 ** (ACTIVATION_BITS + third_bits)).astype(np.int32),
        "scales": np.array(scales, np.int32),
    }


def _rounded(values: npt.NDArray[np.float32], share: float) -> tuple[npt.NDArray[np.int8], int]:
    """Return values as 8-bit numbers and the binary places behind the point; the largest beyond ``share`` are cut."""
    sizes = np.abs(values[values != 0])
    bits = int(math.floor(math.log2(127 / float(np.quantile(sizes, share)))))
    return np.clip(np.rint(values * 2.0**bits), -127, 127).astype(np.int8), bits


def train_and_save(
    paths: SourcePaths, out: Path, tokens: int, seed: int, told: Callable[[str], None], start: Path | None = None
) -> None:
    """Read the sources, train on about ``tokens`` tokens, write the weights and the lists. One thread.

    ``start`` is a file of weights to go on from; its lists stay, and ordinary words that look like names are added.
    """
    torch.set_num_threads(1)
    sources = read_sources(paths.common_voice, paths.census, paths.english, seed)
    if start:
        tensors = load_file(str(start))
        lists = {name.removeprefix("list."): part for name, part in tensors.items() if name.startswith("list.")}
        lists["common"] = np.union1d(lists["common"], words_like_names(sources))
        net = train(sources, Lexicon(lists), tokens, seed, told, net_of(tensors))
    else:
        lists = lists_of(sources)
        net = train(sources, Lexicon(lists), tokens, seed, told)
    tensors = whole_numbers(net) | {f"list.{name}": halves for name, halves in lists.items()}
    save_file(tensors, str(out), metadata={"features": str(FEATURES), "seed": str(seed), "tokens": str(tokens)})
