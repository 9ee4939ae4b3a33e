/* Calls every function of the interface from C, and compares each answer with the expected one. The argument is the
   directory of the store. The program prints PASS if all answers are right. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leveldb/c.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: wrong: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

enum { ENTRIES = 3000 };

static char* message;
static leveldb_t* db;
static leveldb_options_t* options;
static leveldb_readoptions_t* reads;
static leveldb_writeoptions_t* writes;
static int destroyed;

static void no_error(void) {
  if (message != NULL) {
    fprintf(stderr, "unexpected error: %s\n", message);
    exit(1);
  }
}

/* Checks that the last call has failed with a message that has both parts. */
static void error_with(const char* start, const char* part) {
  CHECK(message != NULL);
  if (strncmp(message, start, strlen(start)) != 0 || strstr(message, part) == NULL) {
    fprintf(stderr, "wrong message: %s\n", message);
    exit(1);
  }
  leveldb_free(message);
  message = NULL;
}

static void put(const char* key, const char* value) {
  leveldb_put(db, writes, key, strlen(key), value, strlen(value), &message);
  no_error();
}

/* Checks the value of a key; a null value means that the key is absent. */
static void expect(const char* key, const char* value) {
  size_t bytes = 99;
  char* found = leveldb_get(db, reads, key, strlen(key), &bytes, &message);
  no_error();
  CHECK((found == NULL) == (value == NULL));
  CHECK(bytes == (value == NULL ? 0 : strlen(value)));
  CHECK(value == NULL || memcmp(found, value, bytes) == 0);
  leveldb_free(found);
}

static void expect_entry(const leveldb_iterator_t* iterator, const char* key, const char* value) {
  size_t key_bytes, value_bytes;
  CHECK(leveldb_iter_valid(iterator) == 1);
  const char* found_key = leveldb_iter_key(iterator, &key_bytes);
  const char* found_value = leveldb_iter_value(iterator, &value_bytes);
  CHECK(key_bytes == strlen(key) && memcmp(found_key, key, key_bytes) == 0);
  CHECK(value_bytes == strlen(value) && memcmp(found_value, value, value_bytes) == 0);
}

static void open_store(const char* directory) {
  db = leveldb_open(options, directory, &message);
  no_error();
  CHECK(db != NULL);
}

static void open_and_refuse(const char* directory) {
  CHECK(leveldb_open(options, directory, &message) == NULL);
  error_with("Invalid argument: ", "create_if_missing");
  leveldb_options_set_create_if_missing(options, 1);
  open_store(directory);
  CHECK(leveldb_open(options, directory, &message) == NULL);
  error_with("IO error: ", "is in use");
  leveldb_close(db);
  leveldb_options_set_error_if_exists(options, 1);
  CHECK(leveldb_open(options, directory, &message) == NULL);
  error_with("Invalid argument: ", "already has a store");
  leveldb_options_set_error_if_exists(options, 0);
  leveldb_options_set_compression(options, 9);
  CHECK(leveldb_open(options, directory, &message) == NULL);
  error_with("Invalid argument: ", "unknown compression 9");
  leveldb_options_set_compression(options, leveldb_snappy_compression);
  open_store(directory);
}

static void write_and_read(void) {
  put("b", "two");
  put("a", "");
  expect("a", "");
  expect("b", "two");
  expect("c", NULL);
  leveldb_writeoptions_set_sync(writes, 1);
  leveldb_delete(db, writes, "b", 1, &message);
  no_error();
  leveldb_writeoptions_set_sync(writes, 0);
  expect("b", NULL);
  leveldb_put(db, writes, NULL, 0, NULL, 0, &message);
  no_error();
  expect("", "");
  leveldb_put(db, writes, NULL, 3, "value", 5, &message);
  error_with("Invalid argument: ", "null");
  char* long_key = calloc(1, 1 << 20);
  leveldb_put(db, writes, long_key, 1 << 20, "value", 5, &message);
  error_with("Invalid argument: ", "the limit is");
  free(long_key);
}

static void seen(void* state, const char* key, size_t klen, const char* val, size_t vlen) {
  char* text = state;
  snprintf(text + strlen(text), 64, "put %.*s=%.*s;", (int)klen, key, (int)vlen, val);
}

static void gone(void* state, const char* key, size_t klen) {
  char* text = state;
  snprintf(text + strlen(text), 64, "delete %.*s;", (int)klen, key);
}

static void batches(void) {
  char text[512] = "";
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_t* more = leveldb_writebatch_create();
  leveldb_writebatch_put(batch, "x", 1, "0", 1);
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "x", 1, "1", 1);
  leveldb_writebatch_delete(more, "a", 1);
  leveldb_writebatch_put(more, "y", 1, "2", 1);
  leveldb_writebatch_append(batch, more);
  leveldb_writebatch_append(more, more);
  leveldb_writebatch_iterate(batch, text, seen, gone);
  CHECK(strcmp(text, "put x=1;delete a;put y=2;") == 0);
  text[0] = 0;
  leveldb_writebatch_iterate(more, text, seen, gone);
  CHECK(strcmp(text, "delete a;put y=2;delete a;put y=2;") == 0);
  leveldb_write(db, writes, batch, &message);
  no_error();
  expect("x", "1");
  expect("y", "2");
  expect("a", NULL);
  /* A batch cannot report an error, so the write reports it. */
  char* long_key = calloc(1, 1 << 20);
  leveldb_writebatch_put(batch, long_key, 1 << 20, "value", 5);
  leveldb_write(db, writes, batch, &message);
  error_with("Invalid argument: ", "the limit is");
  free(long_key);
  leveldb_writebatch_destroy(batch);
  leveldb_writebatch_destroy(more);
}

static void iterators(void) {
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, reads);
  CHECK(leveldb_iter_valid(iterator) == 0);
  leveldb_iter_seek_to_first(iterator);
  expect_entry(iterator, "", "");
  put("z", "later");
  leveldb_iter_next(iterator);
  expect_entry(iterator, "x", "1");
  leveldb_iter_next(iterator);
  expect_entry(iterator, "y", "2");
  leveldb_iter_prev(iterator);
  expect_entry(iterator, "x", "1");
  leveldb_iter_seek_to_last(iterator);
  expect_entry(iterator, "y", "2");
  leveldb_iter_next(iterator);
  CHECK(leveldb_iter_valid(iterator) == 0);
  leveldb_iter_seek(iterator, "w", 1);
  expect_entry(iterator, "x", "1");
  leveldb_iter_get_error(iterator, &message);
  no_error();
  leveldb_iter_destroy(iterator);
}

static void snapshots(void) {
  const leveldb_snapshot_t* snapshot = leveldb_create_snapshot(db);
  put("x", "new");
  leveldb_readoptions_set_snapshot(reads, snapshot);
  expect("x", "1");
  leveldb_iterator_t* iterator = leveldb_create_iterator(db, reads);
  leveldb_iter_seek(iterator, "x", 1);
  expect_entry(iterator, "x", "1");
  leveldb_iter_destroy(iterator);
  leveldb_readoptions_set_snapshot(reads, NULL);
  expect("x", "new");
  leveldb_release_snapshot(db, snapshot);
}

static void sizes_and_properties(void) {
  char key[32], value[128];
  memset(value, 'v', sizeof value - 1);
  value[sizeof value - 1] = 0;
  for (int i = 0; i < ENTRIES; i++) {
    snprintf(key, sizeof key, "k%08d", i);
    put(key, value);
  }
  const char* starts[] = {"k00000000", "k00001000", "l"};
  const char* limits[] = {"k00001000", "k00003000", "m"};
  const size_t lengths[] = {9, 9, 1};
  uint64_t sizes[3];
  leveldb_approximate_sizes(db, 3, starts, lengths, limits, lengths, sizes);
  CHECK(sizes[0] > 1000 && sizes[1] > sizes[0] && sizes[2] == 0);
  leveldb_compact_range(db, "k", 1, "l", 1);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  leveldb_settle(db, &message);
  no_error();
  expect("k00002999", value);
  CHECK(leveldb_property_value(db, "leveldb.nothing") == NULL);
  CHECK(leveldb_property_value(db, "leveldb.num-files-at-levelx") == NULL);
  const char* names[] = {"leveldb.num-files-at-level1", "leveldb.stats", "leveldb.sstables",
                         "leveldb.approximate-memory-usage", "lsmbench.design"};
  const char* parts[] = {"", "SSTables", "level 1: 1 sorted runs", "", "kind = "};
  for (int i = 0; i < 5; i++) {
    char* text = leveldb_property_value(db, names[i]);
    CHECK(text != NULL && strlen(text) > 0 && strstr(text, parts[i]) != NULL);
    leveldb_free(text);
  }
}

static void count_destroyed(void* state) { *(int*)state += 1; }
static const char* name_of(void* state) { return state == NULL ? "" : "custom"; }

static int by_bytes(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  int order = memcmp(a, b, alen < blen ? alen : blen);
  (void)state;
  return order != 0 ? order : (alen > blen) - (alen < blen);
}

static int reversed(void* state, const char* a, size_t alen, const char* b, size_t blen) {
  return by_bytes(state, b, blen, a, alen);
}

static char* no_filter(void* state, const char* const* keys, const size_t* lengths, int count, size_t* bytes) {
  (void)state, (void)keys, (void)lengths, (void)count;
  *bytes = 0;
  return malloc(1);
}

static uint8_t never(void* state, const char* key, size_t length, const char* filter, size_t bytes) {
  (void)state, (void)key, (void)length, (void)filter, (void)bytes;
  return 0;
}

static void comparators(const char* directory) {
  leveldb_comparator_t* same = leveldb_comparator_create(&destroyed, count_destroyed, by_bytes, name_of);
  leveldb_options_set_comparator(options, same);
  leveldb_close(db);
  open_store(directory);
  put("k1", "v1");
  expect("k1", "v1");
  leveldb_close(db);
  leveldb_comparator_t* other = leveldb_comparator_create(&destroyed, count_destroyed, reversed, name_of);
  leveldb_options_set_comparator(options, other);
  CHECK(leveldb_open(options, directory, &message) == NULL);
  error_with("Invalid argument: ", "comparator \"custom\"");
  leveldb_destroy_db(options, directory, &message);
  no_error();
  open_store(directory);
  put("m", "first");
  leveldb_put(db, writes, "n", 1, "second", 6, &message);
  error_with("Invalid argument: ", "comparator \"custom\"");
  expect("m", "first");
  leveldb_close(db);
  leveldb_options_set_comparator(options, NULL);
  leveldb_comparator_destroy(same);
  leveldb_comparator_destroy(other);
  CHECK(destroyed == 2);
  open_store(directory);
}

static void filters(const char* directory) {
  leveldb_filterpolicy_t* bloom = leveldb_filterpolicy_create_bloom(10);
  leveldb_filterpolicy_t* own =
      leveldb_filterpolicy_create(&destroyed, count_destroyed, no_filter, never, name_of);
  leveldb_filterpolicy_t* policies[] = {bloom, own, NULL};
  for (int i = 0; i < 3; i++) {
    leveldb_options_set_filter_policy(options, policies[i]);
    leveldb_close(db);
    open_store(directory);
    put("filtered", "value");
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    expect("filtered", "value");
  }
  leveldb_filterpolicy_destroy(bloom);
  leveldb_filterpolicy_destroy(own);
  CHECK(destroyed == 3);
}

static void null_handles(void) {
  leveldb_put(NULL, writes, "k", 1, "v", 1, &message);
  error_with("Invalid argument: ", "db is null");
  CHECK(leveldb_get(db, NULL, "k", 1, NULL, &message) == NULL);
  error_with("Invalid argument: ", "options is null");
  CHECK(leveldb_open(options, NULL, &message) == NULL);
  error_with("Invalid argument: ", "name is null");
  CHECK(leveldb_create_snapshot(NULL) == NULL && leveldb_create_iterator(NULL, reads) == NULL);
  CHECK(leveldb_iter_valid(NULL) == 0 && leveldb_property_value(NULL, "leveldb.stats") == NULL);
  leveldb_iter_next(NULL);
  leveldb_writebatch_put(NULL, "k", 1, "v", 1);
  leveldb_options_set_block_size(NULL, 1);
  leveldb_close(NULL);
  leveldb_iter_destroy(NULL);
  leveldb_writebatch_destroy(NULL);
  leveldb_cache_destroy(NULL);
  leveldb_free(NULL);
}

int main(int count, char** arguments) {
  CHECK(count == 2);
  const char* directory = arguments[1];
  CHECK(leveldb_major_version() == 1 && leveldb_minor_version() == 23);

  leveldb_env_t* env = leveldb_create_default_env();
  char* tests = leveldb_env_get_test_directory(env);
  CHECK(tests != NULL && strlen(tests) > 0);
  leveldb_free(tests);

  leveldb_cache_t* cache = leveldb_cache_create_lru(1 << 20);
  options = leveldb_options_create();
  leveldb_options_set_env(options, env);
  leveldb_options_set_info_log(options, NULL);
  leveldb_options_set_cache(options, cache);
  leveldb_options_set_write_buffer_size(options, 100000);
  leveldb_options_set_max_file_size(options, 1 << 20);
  leveldb_options_set_block_size(options, 1024);
  leveldb_options_set_block_restart_interval(options, 8);
  leveldb_options_set_max_open_files(options, 100);
  leveldb_options_set_paranoid_checks(options, 1);
  reads = leveldb_readoptions_create();
  leveldb_readoptions_set_verify_checksums(reads, 1);
  leveldb_readoptions_set_fill_cache(reads, 0);
  writes = leveldb_writeoptions_create();

  open_and_refuse(directory);
  write_and_read();
  batches();
  iterators();
  snapshots();
  sizes_and_properties();
  null_handles();
  comparators(directory);
  filters(directory);

  leveldb_close(db);
  leveldb_repair_db(options, directory, &message);
  no_error();
  open_store(directory);
  expect("m", "first");
  leveldb_destroy_db(options, directory, &message);
  error_with("IO error: ", "is in use");
  leveldb_close(db);
  leveldb_destroy_db(options, directory, &message);
  no_error();
  leveldb_repair_db(options, directory, &message);
  error_with("Invalid argument: ", "is not a store");

  leveldb_options_destroy(options);
  leveldb_readoptions_destroy(reads);
  leveldb_writeoptions_destroy(writes);
  leveldb_cache_destroy(cache);
  leveldb_env_destroy(env);
  puts("PASS");
  return 0;
}
