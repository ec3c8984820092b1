// A loop over the functions of a PJRT plugin and nothing else: inputs are on the device, results come to the host.
//
// bare_loop PLUGIN EXECUTABLE loads the plugin and the bytes of an executable that it serialized, says `ok 1`, and then answers lines of
// its input as the runner of ours does: `clear`, `input SHAPE FILE` (elements of type f32), `run COUNT`, `save FOLDER`.
//
// Structs are those of the C API (xla/pjrt/c/pjrt_c_api.h), each with room behind it for fields of newer versions.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARRAYS_MAX = 256, RANK_MAX = 16, F32 = 11, IMMUTABLE_ZERO_COPY = 2, ROOM = 8 };

#define ARGUMENTS(fields)    \
  struct {                   \
    size_t size;             \
    void *extension;         \
    fields                   \
    void *room[ROOM];        \
  }

typedef void *(*Function)(void *);
typedef struct {
  size_t size;
  void *extension;
  size_t version_size;
  void *version_extension;
  int major, minor;
  Function functions[];
} Api;

enum {
  ERROR_MESSAGE = 1,
  INITIALIZE = 3,
  EVENT_DESTROY = 5,
  EVENT_AWAIT = 8,
  CLIENT_CREATE = 10,
  DEVICES = 16,
  FROM_HOST = 22,
  NUM_OUTPUTS = 44,
  GET_EXECUTABLE = 51,
  EXECUTE = 55,
  LOAD = 56,
  BUFFER_DESTROY = 58,
  TO_HOST = 70,
};

static const Api *api;

static void call(int function, void *arguments) {
  void *error = api->functions[function](arguments);
  if (!error) return;
  ARGUMENTS(void *error; const char *message; size_t length;) told = {sizeof told, 0, error};
  api->functions[ERROR_MESSAGE](&told);
  fprintf(stderr, "function %d: %.*s\n", function, (int)told.length, told.message);
  exit(1);
}

#define CALL(function, arguments) ((arguments).size = sizeof(arguments), call(function, &(arguments)))

typedef struct {
  float *data;
  int64_t dims[RANK_MAX];
  size_t rank;
} Array;

static size_t input_count, output_count, output_bytes[ARRAYS_MAX];
static void *inputs[ARRAYS_MAX], *outputs[ARRAYS_MAX], *client, *device, *executable;

static void *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) exit(2);
  *length = (size_t)ftell(file);
  rewind(file);
  // Aligned as arrays of ours are, so that neither side copies.
  void *bytes = aligned_alloc(64, (*length + 127) / 64 * 64);
  if (!bytes || fread(bytes, 1, *length, file) != *length) exit(2);
  fclose(file);
  return bytes;
}

static void destroy_event(void *event) {
  ARGUMENTS(void *event;) destroy = {0, 0, event};
  CALL(EVENT_DESTROY, destroy);
}

static void await(void *event) {
  ARGUMENTS(void *event;) wait = {0, 0, event};
  CALL(EVENT_AWAIT, wait);
  destroy_event(event);
}

static void destroy_buffer(void *buffer) {
  ARGUMENTS(void *buffer;) destroy = {0, 0, buffer};
  CALL(BUFFER_DESTROY, destroy);
}

static void *to_device(const Array *array) {
  ARGUMENTS(void *client; const void *data; int type; const int64_t *dims; size_t dim_count; const int64_t *strides;
            size_t stride_count; int semantics; void *device; void *memory; void *layout; void *done; void *buffer;)
  copy = {0, 0, client, array->data, F32, array->dims, array->rank, 0, 0, IMMUTABLE_ZERO_COPY, device};
  CALL(FROM_HOST, copy);
  destroy_event(copy.done);
  return copy.buffer;
}

static void to_host(void *buffer, size_t output) {
  ARGUMENTS(void *source; void *layout; void *to; size_t length; void *event;)
  copy = {0, 0, buffer, 0, outputs[output], output_bytes[output]};
  if (!outputs[output]) {
    CALL(TO_HOST, copy);
    output_bytes[output] = copy.length;
    copy.to = outputs[output] = aligned_alloc(64, (copy.length + 127) / 64 * 64);
  }
  CALL(TO_HOST, copy);
  await(copy.event);
}

static void run(void) {
  void *results[ARRAYS_MAX], *done = 0;
  int64_t kept[ARRAYS_MAX];
  for (size_t i = 0; i < input_count; i++) kept[i] = (int64_t)i;
  ARGUMENTS(void *send; void *receive; size_t sends; size_t receives; int launch; const int64_t *kept; size_t kept_count;
            void *context; const char *location; size_t tasks; int *ids; int64_t *incarnations;)
  options = {sizeof options, 0, 0, 0, 0, 0, 0, kept, input_count};
  void *const *lists[] = {inputs};
  void **result_lists[] = {results};
  ARGUMENTS(void *executable; void *options; void *const *const *arguments; size_t devices; size_t count; void **const *results;
            void **done; void *device;)
  execute = {0, 0, executable, &options, lists, 1, input_count, result_lists, &done};
  CALL(EXECUTE, execute);
  await(done);
  for (size_t i = 0; i < output_count; i++) {
    to_host(results[i], i);
    destroy_buffer(results[i]);
  }
}

static void add_input(char *shape, const char *path) {
  Array array = {0};
  size_t length;
  array.data = read_file(path, &length);
  for (char *size = strtok(shape, "x"); size && strcmp(size, "-"); size = strtok(0, "x")) array.dims[array.rank++] = atoll(size);
  inputs[input_count++] = to_device(&array);
}

static void save(const char *folder) {
  for (size_t i = 0; i < output_count; i++) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%zu", folder, i);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(outputs[i], 1, output_bytes[i], file) != output_bytes[i] || fclose(file)) exit(2);
  }
}

static void load(const char *plugin, const char *path) {
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  const Api *(*get)(void) = library ? (const Api *(*)(void))dlsym(library, "GetPjrtApi") : 0;
  if (!get) exit(2);
  api = get();
  ARGUMENTS() initialize = {0};
  CALL(INITIALIZE, initialize);
  ARGUMENTS(void *options; size_t count; void *get; void *get_user; void *put; void *put_user; void *client; void *try_get;
            void *try_user;)
  create = {0};
  CALL(CLIENT_CREATE, create);
  client = create.client;
  ARGUMENTS(void *client; void **devices; size_t count;) devices = {0, 0, client};
  CALL(DEVICES, devices);
  device = devices.devices[0];
  size_t length;
  char *bytes = read_file(path, &length);
  ARGUMENTS(void *client; const char *bytes; size_t length; void *loaded; const char *options; size_t options_length;)
  loaded = {0, 0, client, bytes, length};
  CALL(LOAD, loaded);
  executable = loaded.loaded;
  ARGUMENTS(void *loaded; void *executable;) unloaded = {0, 0, executable};
  CALL(GET_EXECUTABLE, unloaded);
  ARGUMENTS(void *executable; size_t count;) count = {0, 0, unloaded.executable};
  CALL(NUM_OUTPUTS, count);
  output_count = count.count;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  load(words[1], words[2]);
  puts("ok 1");
  fflush(stdout);
  char line[8192], first[4096], second[4096];
  while (fgets(line, sizeof line, stdin)) {
    long calls;
    if (!strcmp(line, "clear\n")) {
      input_count = 0;
      puts("ok");
    } else if (sscanf(line, "input %4095s %4095s", first, second) == 2) {
      add_input(first, second);
      puts("ok");
    } else if (sscanf(line, "run %ld", &calls) == 1) {
      struct timespec start, end;
      clock_gettime(CLOCK_MONOTONIC, &start);
      for (long i = 0; i < calls; i++) run();
      clock_gettime(CLOCK_MONOTONIC, &end);
      printf("ok %lld\n", (end.tv_sec - start.tv_sec) * 1000000000ll + (end.tv_nsec - start.tv_nsec));
    } else if (sscanf(line, "save %4095s", first) == 1) {
      save(first);
      printf("ok %zu\n", output_count);
    } else {
      return 2;
    }
    fflush(stdout);
  }
  return 0;
}
