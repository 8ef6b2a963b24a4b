CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, price REAL, name TEXT);
CREATE INDEX item_kind ON item (kind, price);
BEGIN;
WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < :n)
INSERT INTO item SELECT i, i * 7919 % 97, (i * 104729 % 10007) / 7.0, printf('item-%05d', i * 31 % 9973) FROM number;
COMMIT;
SELECT kind, count(*), round(sum(price), 3), min(name) FROM item GROUP BY kind ORDER BY 2 DESC, 1 LIMIT 5;
SELECT count(*) FROM item a JOIN item b ON a.kind = b.kind AND a.price < b.price WHERE a.id % 50 = 0;
SELECT name FROM item WHERE name LIKE '%77%' ORDER BY price DESC, id LIMIT 3;
UPDATE item SET price = price * 1.5 WHERE kind IN (SELECT kind FROM item GROUP BY kind HAVING avg(price) > 700);
DELETE FROM item WHERE id % 7 = 3;
SELECT count(*), round(total(price), 3), max(length(name)) FROM item;
SELECT substr(upper(name), 1, 4) AS head, group_concat(id % 10, '') FROM (SELECT * FROM item ORDER BY id LIMIT 40) GROUP BY head;
CREATE VIEW dear AS SELECT * FROM item WHERE price > (SELECT avg(price) FROM item);
SELECT count(*), sum(id) FROM dear;
SELECT id, rank() OVER (PARTITION BY kind ORDER BY price, id) FROM item WHERE kind < 2 ORDER BY kind, price, id LIMIT 6;
